import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isQueueLockError } from '@queuelock/core';
import { EXIT } from '../exit-codes.ts';
import { contendOnce, type Contender } from './round.ts';

export interface Rounds {
  readonly count: number;
  /** Between the end of a round and the next. */
  readonly gapMs: number;
  /** Goes on after a round whose turn never came, if another one may have more luck. */
  readonly keeps?: boolean;
}

/**
 * Joins the queue `count` times, one after the other, until it is done or stopped. A lost ownership ends its round only.
 * Answers with the exit code; rejects with the error of a round whose turn never came, unless it keeps on.
 */
export async function contend(
  contender: Contender,
  { count, gapMs, keeps = false }: Rounds,
): Promise<number> {
  let exitCode: number = EXIT.ok;
  for (let n = 1; n <= count; n += 1) {
    if (n > 1) await unlessStopped(gapMs, contender.stop);
    if (contender.stop.aborted) break;
    const end = await contendOnce(contender, n).catch((error: unknown) => {
      if (keeps && isQueueLockError(error) && error.retryable) return 'failed';
      throw error;
    });
    if (end === 'lost') exitCode = EXIT.lost;
    if (end === 'failed') exitCode = EXIT.failure;
  }
  return exitCode;
}

/** Also without a gap the event loop turns once: signals and heartbeats come in there. */
async function unlessStopped(ms: number, stop: AbortSignal): Promise<void> {
  if (ms === 0) {
    await nextTurn();
    return;
  }
  await pause(ms, undefined, { signal: stop }).catch((error: unknown) => {
    if (!stop.aborted) throw error;
  });
}
