import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isQueueLockError } from '@queuelock/core';
import { EXIT } from '../exit-codes.ts';
import { contendOnce, type Contender } from './round.ts';

export interface Rounds {
  readonly count: number;
  /** Delay between the end of one round and the start of the next, in milliseconds. */
  readonly gapMs: number;
  /** Whether to start the next round after a claim that failed with a retryable error. */
  readonly keepsGoing?: boolean;
}

/**
 * Joins the queue, holds the lock and releases it, `count` times or until it is ordered to stop. When the
 * lock is lost, the next round starts. Resolves with the exit code. Rejects when the lock cannot be acquired,
 * unless `keepsGoing` is set.
 */
export async function contend(
  contender: Contender,
  { count, gapMs, keepsGoing = false }: Rounds,
): Promise<number> {
  let exitCode: number = EXIT.ok;
  for (let n = 1; n <= count; n += 1) {
    if (n > 1) await pauseBetween(gapMs, contender.stop);
    if (contender.stop.aborted) break;
    const end = await contendOnce(contender, n).catch((error: unknown) => {
      if (keepsGoing && isQueueLockError(error) && error.retryable) return 'failed';
      throw error;
    });
    if (end === 'lost') exitCode = EXIT.lost;
    if (end === 'failed') exitCode = EXIT.failure;
  }
  return exitCode;
}

/**
 * Waits between two rounds. Yields to the event loop even for 0 ms, so that the process can handle signals
 * and send heartbeats.
 */
async function pauseBetween(ms: number, stop: AbortSignal): Promise<void> {
  if (ms === 0) {
    await nextTurn();
    return;
  }
  await pause(ms, undefined, { signal: stop }).catch((error: unknown) => {
    if (!stop.aborted) throw error;
  });
}
