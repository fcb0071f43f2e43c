import type { Hold, Ownership } from '@queuelock/core';
import { exitCodeOf } from '../exit-codes.ts';
import type { Stop } from '../stop.ts';

/** The hold of a lock, a permit or a leadership under which work runs. */
export interface Held
  extends Pick<Hold, 'signal' | 'remainingMs'>, Pick<Ownership, 'name' | 'key' | 'token'> {
  release(): Promise<void>;
}

/** Returns the hold of a lock or leadership that ends by `release`. */
export function heldUntil(lock: Omit<Held, 'release'>, release: Held['release']): Held {
  const { name, key, token, signal } = lock;
  return {
    name,
    key,
    token,
    signal,
    get remainingMs() {
      return lock.remainingMs;
    },
    release,
  };
}

/**
 * The work that runs under one hold. Resolves with the exit code.
 * @param onSignal sets the listener for signals during the work. Signals that arrived before are delivered at
 *   once
 */
export type Work = (
  held: Held,
  onSignal: (listener: (signal: NodeJS.Signals) => void) => void,
) => Promise<number>;

export interface TermEnd {
  readonly exitCode: number;
  /** Whether a signal requested the end. */
  readonly signalled: boolean;
}

/** Runs the work under the hold, and then releases the lock. While the work runs, signals go to the work. */
export async function runTerm(work: Work, held: Held, stop: Stop): Promise<TermEnd> {
  const signals: NodeJS.Signals[] = [];
  let listener: ((signal: NodeJS.Signals) => void) | undefined;
  let releasing = false;
  const undivert = stop.divert((signal) => {
    // During the release the first signal has no effect. A second signal ends the process, and the TTL
    // removes the entry.
    if (releasing && signals.length > 0) process.exit(exitCodeOf(signal));
    signals.push(signal);
    listener?.(signal);
  });
  try {
    const exitCode = await work(held, (other) => {
      listener = other;
      signals.forEach(other);
    });
    return { exitCode, signalled: signals.length > 0 };
  } finally {
    releasing = true;
    listener = undefined;
    await held.release();
    undivert();
  }
}
