import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isQueueLockError } from '@queuelock/core';
import { EXIT } from '../exit-codes.ts';
import { contendOnce, type Contender } from './round.ts';

export interface Rounds {
  readonly count: number;
  /**
   * Delay between the end of one round (join, hold and release) and the start of the next, in milliseconds.
   */
  readonly gapMs: number;
  /**
   * Whether to start the next round (join, hold and release) after a claim that failed with a retryable
   * error.
   */
  readonly keepsGoing?: boolean;
}

/**
 * Runs `count` rounds, or rounds until it is ordered to stop. In each round the contender joins the queue,
 * holds the lock and releases it. The loss of the lock ends only its round. Resolves with the exit code.
 * Rejects when a claim fails, unless `Rounds.keepsGoing` is set and the error is retryable.
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
 * Waits between two rounds (join, hold and release) of a contender. Yields to the event loop even for 0 ms,
 * so that the process can handle signals and send heartbeats.
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
