import { setTimeout as pause } from 'node:timers/promises';
import { isQueueLockError, type QueueLockErrorCode } from '@queuelock/core';
import { EXIT } from '../exit-codes.ts';
import type { Stop } from '../stop.ts';
import { runTerm, type Held, type Work } from './term.ts';

/** Settings for repeated terms. A term is the wait for the grant, and the work under the hold. */
export interface Terms {
  /** Waits for the grant. Rejects with the reason of `signal` when it aborts. */
  readonly acquire: (signal: AbortSignal) => Promise<Held>;
  readonly work: Work;
  /**
   * Whether to join the queue again after the lock was lost, after an outage ended the wait, and after the work
   * failed.
   */
  readonly keep: boolean;
  readonly stop: Stop;
  /** Prints a line for the user. */
  readonly note: (line: string) => void;
}

// Codes of errors of a wait after which another wait may succeed. `OWNERSHIP_LOST` occurs when the lock is
// lost right at the grant.
const TEMPORARY_ERRORS: ReadonlySet<QueueLockErrorCode> = new Set([
  'UNAVAILABLE',
  'SESSION_LOST',
  'ENTRY_LOST',
  'OWNERSHIP_LOST',
]);

/**
 * Runs one term, or with `keep` one term after another. With `keep`, another term follows when the lock was
 * lost, an outage ended the wait, or the work failed. No term follows when the work succeeded (exit code 0),
 * a signal arrived, or an error occurred that a retry cannot cure. Each term joins at the end of the queue.
 * @returns the exit code of the last term
 */
export async function runTerms(terms: Terms): Promise<number> {
  const { keep, stop, note } = terms;
  for (let failures = 0; ;) {
    const begin = performance.now();
    const end = await runOneTerm(terms);
    if (!keep || end.last || stop.signal.aborted) return end.exitCode;
    const isNew = end.exitCode === EXIT.lost || performance.now() - begin >= STABLE_TERM_MS;
    failures = isNew ? 0 : failures + 1;
    const ms = backoffDelay(failures, Math.random());
    note(`${end.why}; joins the queue again in ${(ms / 1_000).toFixed(1)} s (--keep)`);
    if (await isStoppedWithin(ms, stop.signal)) return stop.exitCode ?? end.exitCode;
  }
}

/**
 * After a term (the wait for the lock and the work under it) of at least this many milliseconds, the backoff
 * starts again at its shortest delay. A command that fails at its start ends earlier.
 */
const STABLE_TERM_MS = 10_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Returns the backoff delay after `failures` failures in a row, in whole milliseconds. It starts at 0.1 s and
 * doubles up to 30 s. Up to half of it is removed at random, so that clients that failed together do not
 * return together.
 * @param chance a random number from 0 to 1
 */
export function backoffDelay(failures: number, chance: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, 100 * 2 ** failures);
  return Math.round(longest * (1 - chance / 2));
}

interface End {
  readonly exitCode: number;
  readonly last: boolean;
  readonly why: string;
}

async function runOneTerm({ acquire, work, keep, stop }: Terms): Promise<End> {
  try {
    const held = await acquire(stop.signal);
    const { exitCode, signalled } = await runTerm(work, held, stop);
    const why =
      exitCode === EXIT.lost ? 'the lock was lost' : `the command ended with code ${String(exitCode)}`;
    return { exitCode, last: signalled || exitCode === EXIT.ok, why };
  } catch (error) {
    const isPassing = isQueueLockError(error) && TEMPORARY_ERRORS.has(error.code);
    if (!keep || !isPassing) throw error;
    return { exitCode: EXIT.failure, last: false, why: error.message };
  }
}

async function isStoppedWithin(ms: number, signal: AbortSignal): Promise<boolean> {
  await pause(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return signal.aborted;
}
