import type { ClaimOptions, LockClient, SharedRegister } from '@queuelock/core';
import { invalidArgument } from '@queuelock/core/backend';
import { wholeNumber } from './arguments.ts';
import { liveText } from './live-text.ts';
import {
  ReplaySubject,
  Subscription,
  distinctUntilChanged,
  from,
  map,
  of,
  share,
  switchMap,
  type Observable,
} from './rx.ts';

/** The largest limit that a claim accepts. */
const MAX_LIMIT = 1_000_000;

/** The limit of a semaphore, fixed or changeable, as claims use it. */
export interface Limit {
  /**
   * Returns the option `limit` for a claim. If the limit can change, a claim of more permits than the limit
   * fails.
   */
  terms(permits: number): Pick<ClaimOptions, 'limit'>;
  /**
   * Subscribes to changes of the limit, so that a waiting claim gets them. Unsubscribe when the claim ends.
   */
  watch(): Subscription;
}

/** Returns a `Limit` that never changes. */
export function fixedLimit(limit: number): Limit {
  return { terms: () => ({ limit }), watch: () => Subscription.EMPTY };
}

/**
 * A limit that all clients share through a register. The first client that finds the register empty writes
 * the limit that it has declared.
 */
export class SharedLimit implements Limit {
  /** Emits the limit at once, then after each change. Errors when the client is closed, or when the register holds another text. */
  readonly limit$: Observable<number>;
  readonly #register: SharedRegister;

  constructor(client: LockClient, name: string, declared: number) {
    const register = client.register(name, 'limit');
    const pin = (): Promise<string | undefined> => register.change((text) => text ?? String(declared));
    this.#register = register;
    this.limit$ = liveText(register.state$).pipe(
      switchMap((text) => (text === undefined ? from(pin()) : of(text))),
      map(limitIn),
      distinctUntilChanged(),
      share({
        connector: () => new ReplaySubject(1),
        resetOnComplete: true,
        resetOnError: true,
        resetOnRefCountZero: true,
      }),
    );
  }

  terms(permits: number): Pick<ClaimOptions, 'limit'> {
    const terms: Pick<ClaimOptions, 'limit'> = { limit: this.limit$.pipe(map(enoughFor(permits))) };
    return terms;
  }

  /**
   * Subscribes to `limit$`, so that it stays up to date. Ignores its errors, because the claim subscribes to
   * `limit$` too and reports them.
   */
  watch(): Subscription {
    return this.limit$.subscribe({ error: () => undefined });
  }

  async resize(limit: number): Promise<void> {
    const text = String(checkedLimit(limit));
    await this.#register.change(() => text);
  }
}

/**
 * Returns a function that throws for a claim of more permits than the limit. Such a claim could never be
 * granted and would block all waiters behind it.
 */
function enoughFor(permits: number): (limit: number) => number {
  return (limit) => {
    if (permits <= limit) return limit;
    throw invalidArgument('permits', permits, `is at most the limit of the semaphore, which is ${limit} now`);
  };
}

/**
 * Returns `limit` if it is valid.
 * @throws {QueueLockError} `INVALID_ARGUMENT` otherwise
 */
export function checkedLimit(limit: number): number {
  return wholeNumber('limit', limit, { min: 1, max: MAX_LIMIT });
}

function limitIn(text: string | undefined): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalidArgument('the register of the limit', text, 'contains a whole number; resize() writes one');
}
