import type { LockClient } from '@queuelock/core';
import type { ContendEvent } from '../contend/event.ts';

/**
 * What one contender does in the demo: how many rounds (join, hold and release) it runs, and how long it
 * holds in each.
 */
export interface ContenderScript {
  readonly id: string;
  readonly rounds: number;
  readonly holdMs: number;
}

/** A contender that takes part in a demo. */
export interface Actor {
  readonly id: string;
  /** End of the proven time of the contender's hold as a stamp, if it is known. */
  readonly provenUntil: string | undefined;
  /** Orders the contender to leave the queue or release the lock. */
  leave(): void;
  /** Kills the contender at once, without a release. */
  crash(): void;
  /** Resolves when the contender has ended for any reason. */
  readonly ended: Promise<void>;
}

/** The environment of a demo on one store, in which contenders are started. */
export interface Stage {
  /**
   * Description of the store for the output of the demo, for instance `memory: (everybody in this process)`.
   */
  readonly storeLabel: string;
  /** Whether the store detects the death of a process and frees its locks before their proven time ends. */
  readonly detectsDeath: boolean;
  /** Client that observes the queue. */
  readonly observer: LockClient;
  enter(part: ContenderScript, emit: (event: ContendEvent) => void): Actor;
  /** Ends all contenders that still run. */
  close(): Promise<void>;
}

export interface StageSettings {
  /** Name of the queue that the contenders join. */
  readonly name: string;
  readonly stamp: () => string;
}

/** Returns the stamp `ms` milliseconds after the stamp `t`. */
export function later(t: string, ms: number): string {
  return (BigInt(t) + BigInt(Math.round(ms * 1e6))).toString();
}
