import type { LockClient } from '@queuelock/core';
import type { ContendEvent } from '../contend/event.ts';

/** What one contender is to do. */
export interface Part {
  readonly id: string;
  readonly rounds: number;
  readonly holdMs: number;
}

/** A contender on the stage. */
export interface Actor {
  readonly id: string;
  /** Until when its hold is proven, as a stamp, as far as it is known. */
  readonly provenUntil: string | undefined;
  /** Asks it to leave in order. */
  leave(): void;
  /** It dies on the spot: nothing is released, nobody is told. */
  crash(): void;
  /** Settles when it has ended, however. */
  readonly gone: Promise<void>;
}

/** Where the contenders live, and what they contend on. */
export interface Stage {
  /** For the first line: `memory: (everybody in this process)`. */
  readonly place: string;
  /** Whether the store sees that a process has died, and need not wait for the end of what was proven to it. */
  readonly seesDeaths: boolean;
  /** Looks at the queue from outside. */
  readonly observer: LockClient;
  enter(part: Part, emit: (event: ContendEvent) => void): Actor;
  /** Ends whatever is left. */
  close(): Promise<void>;
}

export interface StageSettings {
  /** The queue. */
  readonly name: string;
  readonly stamp: () => string;
}

/** The stamp `ms` after another. */
export function later(t: string, ms: number): string {
  return (BigInt(t) + BigInt(Math.round(ms * 1e6))).toString();
}
