import { setMaxListeners } from 'node:events';
import { QueueLockError } from '@queuelock/core';
import { checkedOptions, detailOf, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import { machineClock } from './clock.ts';
import { Observable, take } from './rx.ts';

/** What may end a wait. */
export interface WaitOptions {
  /** Ends the wait: the call rejects at once with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Longest wait in milliseconds, then `TIMEOUT`, or `UNAVAILABLE` if the store could not be asked at the end. Default: for ever. */
  readonly timeoutMs?: number;
}

export const WAIT_OPTIONS: KnownOptions<WaitOptions> = { signal: 'any', timeoutMs: 'number' };

// setTimeout runs at once when asked to wait longer than this.
const MAX_TIMER_MS = 2_147_483_647;

/** @throws {QueueLockError} `INVALID_ARGUMENT` for what ends no wait, and for what is no option of one. */
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

/** What one waits for. */
export interface WaitContext {
  /** What did not happen, when it was in vain. */
  readonly what: string;
  /** Why the store cannot be asked at present, if that is so. */
  readonly sight: { readonly trouble: unknown };
}

/**
 * Errors with the signal's reason when it aborts; when the time is over with `TIMEOUT`, or with `UNAVAILABLE` if the store cannot be asked
 * then. Emits nothing.
 */
export function patience({ signal, timeoutMs }: WaitOptions, context: WaitContext): Observable<never> {
  return new Observable((subscriber) => {
    if (signal) subscriber.add(aborted(signal).subscribe(subscriber));
    if (subscriber.closed || timeoutMs === undefined || timeoutMs === Infinity) return;
    const timer = setTimeout(() => {
      subscriber.error(timedOut(timeoutMs, context));
    }, timeoutMs);
    subscriber.add(() => clearTimeout(timer));
  });
}

/** Who cannot ask the store does not know that others are why: that is no `TIMEOUT`, which a caller takes for busy. */
function timedOut(timeoutMs: number, { what, sight: { trouble } }: WaitContext): QueueLockError {
  const late = `${what} within ${timeoutMs} ms (timeoutMs)`;
  if (trouble === undefined) return new QueueLockError('TIMEOUT', late);
  const why = `${late}, and the store could not be asked: ${detailOf(trouble)}`;
  return new QueueLockError('UNAVAILABLE', why, { cause: trouble });
}

/** Errors with the signal's reason when it aborts, or has. */
export function aborted(signal: AbortSignal): Observable<never> {
  return new Observable((subscriber) => {
    const abort = (): void => subscriber.error(signal.reason);
    // One signal may end many waits; Node would take the eleventh listener for a leak.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', abort);
    subscriber.add(() => signal.removeEventListener('abort', abort));
    // A signal that checks the clock may abort while one looks at it.
    if (signal.aborted) abort();
  });
}

/**
 * Waits with a signal that aborts as `patience` errors; what has come true by then counts.
 * Rejects with `INVALID_ARGUMENT` for a `timeoutMs` below 1: what takes several steps is never there at once.
 */
export async function patiently<T>(
  options: WaitOptions,
  context: WaitContext,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  checkWait(options, 1);
  const stop = new AbortController();
  const limit = patience(options, context).subscribe({ error: (error: unknown) => stop.abort(error) });
  try {
    return await wait(stop.signal);
  } finally {
    limit.unsubscribe();
  }
}

/** Tells what is left of the time when one wait follows another: at least a millisecond, so that the last one ends as any other. */
export function countingDown({ timeoutMs, ...rest }: WaitOptions): () => WaitOptions {
  if (timeoutMs === undefined) return () => rest;
  const began = machineClock.now();
  return () => ({ ...rest, timeoutMs: Math.max(1, timeoutMs - (machineClock.now() - began)) });
}

/** The first value, which there is; rejects with what the stream errors with before. */
export function firstOf<T>(source$: Observable<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    source$.pipe(take(1)).subscribe({ next: resolve, error: reject });
  });
}
