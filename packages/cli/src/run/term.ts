import type { Hold, Ownership } from '@queuelock/core';
import { exitCodeOf } from '../exit-codes.ts';
import type { Stop } from '../stop.ts';

/** What is held for a term: a lock, a permit, a leadership. */
export interface Held
  extends Pick<Hold, 'signal' | 'remainingMs'>, Pick<Ownership, 'name' | 'key' | 'token'> {
  release(): Promise<void>;
}

/**
 * What is done in a term. Answers with the exit code.
 * @param onSignal takes the listener for the signals that reach this process meanwhile; those that came already are told at once
 */
export type Work = (
  held: Held,
  onSignal: (listener: (signal: NodeJS.Signals) => void) => void,
) => Promise<number>;

export interface TermEnd {
  readonly exitCode: number;
  /** Whether somebody asked for the end by a signal. */
  readonly signalled: boolean;
}

/** Does the work under what is held, and releases. Signals are the work's as long as it is under way. */
export async function runTerm(work: Work, held: Held, stop: Stop): Promise<TermEnd> {
  const signals: NodeJS.Signals[] = [];
  let listener: ((signal: NodeJS.Signals) => void) | undefined;
  let releasing = false;
  const undivert = stop.divert((signal) => {
    // While the lock is being released one signal changes nothing; a second one ends the process, and the TTL cleans up.
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
