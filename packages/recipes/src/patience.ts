import { setMaxListeners } from 'node:events';
import { QueueLockError } from '@queuelock/core';
import { checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import { Observable, take } from './rx.ts';

/** What may end a wait. */
export interface WaitOptions {
  /** Ends the wait: the call rejects at once with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Longest wait in milliseconds, then `TIMEOUT`. Default: for ever. */
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

/** Errors with the signal's reason when it aborts, with `TIMEOUT` when the time is over. Emits nothing. */
export function patience({ signal, timeoutMs }: WaitOptions, what: string): Observable<never> {
  return new Observable((subscriber) => {
    if (signal) subscriber.add(aborted(signal).subscribe(subscriber));
    if (subscriber.closed || timeoutMs === undefined || timeoutMs === Infinity) return;
    const timer = setTimeout(() => {
      subscriber.error(new QueueLockError('TIMEOUT', `${what} within ${timeoutMs} ms`));
    }, timeoutMs);
    subscriber.add(() => clearTimeout(timer));
  });
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
 * Waits with a signal that aborts with the caller's reason or with `TIMEOUT`; what has come true by then counts.
 * Rejects with `INVALID_ARGUMENT` for a `timeoutMs` below 1: what takes several steps is never there at once.
 */
export async function patiently<T>(
  options: WaitOptions,
  what: string,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  checkWait(options, 1);
  const stop = new AbortController();
  const limit = patience(options, what).subscribe({ error: (error: unknown) => stop.abort(error) });
  try {
    return await wait(stop.signal);
  } finally {
    limit.unsubscribe();
  }
}

/** The first value, which there is; rejects with what the stream errors with before. */
export function firstOf<T>(source$: Observable<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    source$.pipe(take(1)).subscribe({ next: resolve, error: reject });
  });
}
