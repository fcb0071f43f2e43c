import { setMaxListeners } from 'node:events';
import { QueueLockError } from '@queuelock/core';
import { checkedOptions, detailOf, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import { machineClock } from './clock.ts';
import { Observable, take } from './rx.ts';

/** Limits of a wait: a signal and a timeout. */
export interface WaitOptions {
  /** Ends the wait: the call rejects at once with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Longest wait, in milliseconds. Then the call rejects with `TIMEOUT`, or with `UNAVAILABLE` if the store could not be read when the time
   * was up. Default: no limit.
   */
  readonly timeoutMs?: number;
}

export const WAIT_OPTIONS: KnownOptions<WaitOptions> = { signal: 'any', timeoutMs: 'number' };

// Longest timeout in milliseconds. With a longer one, `setTimeout` would fire at once.
const MAX_TIMER_MS = 2_147_483_647;

/**
 * Checks the limits of a wait.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an invalid value or an unknown option
 */
export function checkWait(options: WaitOptions, leastMs: 0 | 1): void {
  const { signal, timeoutMs } = checkedOptions('options', options, WAIT_OPTIONS);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidArgument('signal', signal, 'is an AbortSignal');
  }
  if (timeoutMs === undefined || timeoutMs === Infinity) return;
  if (typeof timeoutMs === 'number' && timeoutMs >= leastMs && timeoutMs <= MAX_TIMER_MS) return;
  throw invalidArgument(
    'timeoutMs',
    timeoutMs,
    `is a number of milliseconds from ${leastMs} to ${MAX_TIMER_MS}`,
  );
}

/**
 * The data from which the error of a timeout is made: what the waiter waited for, and whether it can read the
 * store.
 */
export interface WaitContext {
  /** The event that did not happen in time, as the beginning of the error message. */
  readonly what: string;
  /** Shows whether the store can be read now. `failure` is the reason why it cannot, or `undefined`. */
  readonly sight: { readonly failure: unknown };
}

/**
 * Errors with the signal's reason when the signal aborts. When the timeout passes, errors with `TIMEOUT`, or
 * with `UNAVAILABLE` if the store cannot be read then. Emits nothing.
 */
export function waitLimit({ signal, timeoutMs }: WaitOptions, context: WaitContext): Observable<never> {
  return new Observable((subscriber) => {
    if (signal) subscriber.add(aborted(signal).subscribe(subscriber));
    if (subscriber.closed || timeoutMs === undefined || timeoutMs === Infinity) return;
    const timer = setTimeout(() => {
      subscriber.error(timedOut(timeoutMs, context));
    }, timeoutMs);
    subscriber.add(() => clearTimeout(timer));
  });
}

/**
 * Creates the error of a timeout: `TIMEOUT`, or `UNAVAILABLE` while the waiter cannot read the store. In that
 * case it is unknown whether other clients delay the waiter, and `TIMEOUT` would suggest that the lock is
 * busy.
 */
function timedOut(timeoutMs: number, { what, sight: { failure } }: WaitContext): QueueLockError {
  const late = `${what} within ${timeoutMs} ms (timeoutMs)`;
  if (failure === undefined) return new QueueLockError('TIMEOUT', late);
  const why = `${late}, and the store could not be read: ${detailOf(failure)}`;
  return new QueueLockError('UNAVAILABLE', why, { cause: failure });
}

/** Errors with the reason of `signal` when `signal` aborts, or at once if it has aborted already. */
export function aborted(signal: AbortSignal): Observable<never> {
  return new Observable((subscriber) => {
    const abort = (): void => subscriber.error(signal.reason);
    // One signal may end many waits. Removes the limit of listeners, because by default Node warns of a leak
    // at the eleventh listener.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', abort);
    subscriber.add(() => signal.removeEventListener('abort', abort));
    // Checks again after adding the listener: a signal that compares a deadline with the clock may abort only
    // when `aborted` is read.
    if (signal.aborted) abort();
  });
}

/**
 * Calls `wait` with a signal that aborts when the limit of the wait is reached. If `wait` returns a result
 * after the abort, the result counts.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a `timeoutMs` below 1, because `wait` needs replies of the
 *   server and cannot end at once
 */
export async function withWaitLimit<T>(
  options: WaitOptions,
  context: WaitContext,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  checkWait(options, 1);
  const stop = new AbortController();
  const limit = waitLimit(options, context).subscribe({ error: (error: unknown) => stop.abort(error) });
  try {
    return await wait(stop.signal);
  } finally {
    limit.unsubscribe();
  }
}

/**
 * Returns a function that returns the remaining timeout, for several waits under one limit. It is at least 1
 * ms, so that the last wait ends with its usual timeout error.
 */
export function countingDown({ timeoutMs, ...rest }: WaitOptions): () => WaitOptions {
  if (timeoutMs === undefined) return () => rest;
  const began = machineClock.now();
  return () => ({ ...rest, timeoutMs: Math.max(1, timeoutMs - (machineClock.now() - began)) });
}

/**
 * Resolves with the first value of a stream. Rejects when the stream errors before it. The stream must not
 * complete without a value.
 */
export function firstOf<T>(source$: Observable<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    source$.pipe(take(1)).subscribe({ next: resolve, error: reject });
  });
}
