import type { Hold, Ownership } from '@queuelock/core';
import { exitCodeOf } from '../exit-codes.ts';
import type { Stop } from '../stop.ts';

/** A hold under which a command runs: of a lock, a permit or a leadership. */
export interface Held
  extends Pick<Hold, 'signal' | 'remainingMs'>, Pick<Ownership, 'name' | 'key' | 'token'> {
  release(): Promise<void>;
}

/** Makes a {@link Held} from a lock or leadership and the function that releases it. */
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
 * Work that runs under one hold. Resolves with the exit code.
 * @param onSignal sets the listener for the signals that this process receives. Earlier signals are delivered
 *   to it at once
 */
export type Work = (
  held: Held,
  onSignal: (listener: (signal: NodeJS.Signals) => void) => void,
) => Promise<number>;

export interface TermEnd {
  readonly exitCode: number;
  /**
   * Whether this process received a signal, such as SIGTERM, during the work. If so, it does not acquire the
   * lock again, not even with `--keep`.
   */
  readonly signalled: boolean;
}

/**
 * Runs the work under the hold, and then releases the lock. Signals that this process receives meanwhile are
 * passed to the work.
 */
export async function runTerm(work: Work, held: Held, stop: Stop): Promise<TermEnd> {
  const signals: NodeJS.Signals[] = [];
  let listener: ((signal: NodeJS.Signals) => void) | undefined;
  let releasing = false;
  const undivert = stop.divert((signal) => {
    // While the lock is being released, the first signal has no effect, because the release is the orderly
    // end. A second signal ends the process, and the TTL removes the entry.
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
