import type { LockClient, SharedRegister } from '@queuelock/core';
import { invalidArgument, wholeNumber } from './arguments.ts';
import { liveText } from './live-text.ts';
import { ReplaySubject, distinctUntilChanged, from, map, of, share, switchMap, type Observable } from './rx.ts';

/** That of a claim. */
const MAX_LIMIT = 1_000_000;

/** A limit that all clients share; the first who looks at an empty register declares it. */
export class SharedLimit {
  /** The present limit at once, then every change. Errors when the client is closed, or when the register holds something else. */
  readonly limit$: Observable<number>;
  readonly #register: SharedRegister;

  constructor(client: LockClient, name: string, declared: number) {
    const register = client.register(name, 'limit');
    const pin = (): Promise<string | undefined> => register.change((text) => text ?? String(declared));
    this.#register = register;
    this.limit$ = liveText(register).pipe(
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

  async resize(limit: number): Promise<void> {
    const text = String(checkedLimit(limit));
    await this.#register.change(() => text);
  }
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
