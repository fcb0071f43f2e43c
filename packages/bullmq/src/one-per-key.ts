import type { LockClient, Ownership } from '@queuelock/core';
import {
  type QueueLockError,
  checkedObject,
  checkedOptions,
  invalidArgument,
  isQueueLockError,
  type KnownOptions,
} from '@queuelock/core/backend';
import { DelayedError } from 'bullmq';
import type { KeyedJob, KeyedProcessor, KeyedWork, OnePerKeyOptions } from './one-per-key-api.ts';

const OPTIONS: KnownOptions<OnePerKeyOptions<never>> = {
  key: 'function',
  delayMs: 'number',
  waitMs: 'number',
  onDelayed: 'function',
};
const DEFAULT_DELAY_MS = 1_000;
const LONGEST_MS = 2 ** 31 - 1;
/** Each delay is shortened by a random part of at most this fraction. */
const JITTER = 0.2;

/**
 * Returns a processor for a `Worker` of BullMQ. The processor does the work of a job while it holds the lock
 * of the job's key. So at most one job of each key runs at a time, in all workers together.
 *
 * A job whose key is locked is delayed and tried again later. This uses up none of its attempts, and the
 * worker takes another job meanwhile. A job is also delayed when the store of the locks cannot be reached.
 * When the lock is lost during the work, `stop` aborts, and the job fails with `OWNERSHIP_LOST` once the work
 * has ended: BullMQ retries it if its `attempts` allow it.
 *
 * Not promised:
 * - Order. Delayed jobs of a key are tried in any order, and a new job of the key may run before them.
 * - That a job runs only once. BullMQ repeats a job whose worker stalled or died, so the work must be
 *   idempotent or fenced.
 * - That a paused worker writes nothing after it lost the lock. Only a database or service that compares
 *   fencing tokens rejects such writes.
 * @param locks a lock client over any store, which need not be the Redis server of the jobs
 * @param options the `key` function and further settings
 * @param work the work of one job
 * @returns a processor that rejects with the `DelayedError` of BullMQ for a job that it has delayed, with
 *   `OWNERSHIP_LOST` after a loss, and with the error of `work` otherwise
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a bad option
 * @example
 * ```ts
 * const process = onePerKey(locks, { key: (job) => `customer/${job.data.customer}` }, async (job, { token }, stop) => {
 *   await sendInvoice(job.data, { token, signal: stop });
 * });
 * new Worker('invoices', process, { connection, maxStalledCount: 10 });
 * ```
 */
export function onePerKey<J extends KeyedJob, R>(
  locks: LockClient,
  options: OnePerKeyOptions<J>,
  work: KeyedWork<J, R>,
): KeyedProcessor<J, R> {
  if (typeof checkedObject('locks', locks).run !== 'function')
    throw invalidArgument('locks', locks, 'is a client that createLockClient returned');
  if (typeof work !== 'function') throw invalidArgument('work', work, 'is a function');
  const settings = settingsOf(options);
  // BullMQ passes an abort signal only to a processor function that declares three parameters.
  return async (job, token, signal) => {
    const { key, waitMs } = settings;
    const run = { hasStarted: false };
    try {
      const whileHeld = async (ownership: Ownership, stop: AbortSignal): Promise<Awaited<R>> => {
        run.hasStarted = true;
        return await work(job, ownership, stop);
      };
      return await locks.run<Awaited<R>>(key(job), whileHeld, {
        timeoutMs: waitMs,
        ...(signal && { signal, stop: signal }),
      });
    } catch (error) {
      // A job is delayed only for an error of its lock. An error that the work throws fails the job, also if
      // it has the same code.
      if (run.hasStarted || !isWorthLater(error)) throw error;
      await job.moveToDelayed(Date.now() + delayOf(settings), token);
      settings.onDelayed?.(job, error);
      throw new DelayedError();
    }
  };
}

type Settings<J> = Required<Omit<OnePerKeyOptions<J>, 'onDelayed'>> & Pick<OnePerKeyOptions<J>, 'onDelayed'>;

function settingsOf<J>(options: OnePerKeyOptions<J>): Settings<J> {
  const known = OPTIONS as KnownOptions<OnePerKeyOptions<J>>;
  const {
    key,
    delayMs = DEFAULT_DELAY_MS,
    waitMs = 0,
    onDelayed,
  } = checkedOptions('options of onePerKey', options, known);
  if (typeof key !== 'function') throw invalidArgument('key', key, 'is a function');
  if (!(delayMs >= 1 && delayMs <= LONGEST_MS))
    throw invalidArgument('delayMs', delayMs, `is a number of milliseconds from 1 to ${LONGEST_MS}`);
  if (!(waitMs >= 0 && waitMs <= LONGEST_MS))
    throw invalidArgument('waitMs', waitMs, `is a number of milliseconds from 0 to ${LONGEST_MS}`);
  return { key, delayMs, waitMs, ...(onDelayed && { onDelayed }) };
}

/**
 * Returns whether a later attempt may succeed: another job may have released the key, or the store may be
 * reachable again.
 */
function isWorthLater(error: unknown): error is QueueLockError {
  return isQueueLockError(error) && (error.code === 'TIMEOUT' || error.retryable);
}

function delayOf({ delayMs }: Pick<Settings<never>, 'delayMs'>): number {
  return Math.ceil(delayMs * (1 - JITTER * Math.random()));
}
