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

/** That of a claim. */
const MAX_LIMIT = 1_000_000;

/** Where the limit of a claim comes from. */
export interface Limit {
  /** The limit of a claim for so many permits. */
  terms(permits: number): Pick<ClaimOptions, 'limit'>;
  /** Keeps it at hand while somebody waits. */
  watch(): Subscription;
}

/** A number for ever. */
export function fixedLimit(limit: number): Limit {
  return { terms: () => ({ limit }), watch: () => Subscription.EMPTY };
}

/** A limit that all clients share; the first who looks at an empty register declares it. */
export class SharedLimit implements Limit {
  /** The present limit at once, then every change. Errors when the client is closed, or when the register holds something else. */
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

  /** What goes wrong with it is told to the claim, which follows it too. */
  watch(): Subscription {
    return this.limit$.subscribe({ error: () => undefined });
  }

  async resize(limit: number): Promise<void> {
    const text = String(checkedLimit(limit));
    await this.#register.change(() => text);
  }
}

/** A waiter that can never be served would hold up everybody behind it. */
function enoughFor(permits: number): (limit: number) => number {
  return (limit) => {
    if (permits <= limit) return limit;
    throw invalidArgument('permits', permits, `is at most the limit of the semaphore, which is ${limit} now`);
  };
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` */
export function checkedLimit(limit: number): number {
  return wholeNumber('limit', limit, { min: 1, max: MAX_LIMIT });
}

function limitIn(text: string | undefined): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalidArgument('the register of the limit', text, 'holds a whole number; resize() writes one');
}
