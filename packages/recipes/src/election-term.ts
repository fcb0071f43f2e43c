import { isQueueLockError, type Ownership } from '@queuelock/core';
import { inJson } from '@queuelock/core/backend';
import type { Leadership } from './election-api.ts';
import { BehaviorSubject, type Observable } from './rx.ts';

/**
 * Returns whether another candidacy may succeed after an error that ended this one before the work began. After
 * `OWNERSHIP_LOST` it may: the lock was lost between the grant and the beginning of the work.
 */
export function mayPass(error: unknown): boolean {
  return isQueueLockError(error) && (error.retryable || error.code === 'OWNERSHIP_LOST');
}

/** The leadership of one candidate, from its election to its end. */
export class Term implements Leadership {
  readonly #ownership: Ownership;
  readonly #present$: BehaviorSubject<Leadership | undefined> = new BehaviorSubject<Leadership | undefined>(
    this,
  );
  #value: string;

  constructor(ownership: Ownership, value: string) {
    this.#ownership = ownership;
    this.#value = value;
    ownership.signal.addEventListener('abort', () => this.end());
  }

  /**
   * Emits this leadership, and `undefined` once it is lost or resigned. The stream of the claim's states
   * reports the loss or the resignation later.
   */
  get present$(): Observable<Leadership | undefined> {
    return this.#present$;
  }

  get name(): string {
    return this.#ownership.name;
  }

  get id(): string {
    return this.#ownership.id;
  }

  get key(): string {
    return this.#ownership.key;
  }

  get order(): bigint {
    return this.#ownership.order;
  }

  get token(): bigint {
    return this.#ownership.token;
  }

  get signal(): AbortSignal {
    return this.#ownership.signal;
  }

  get held(): boolean {
    return this.#ownership.held;
  }

  get remainingMs(): number {
    return this.#ownership.remainingMs;
  }

  get value(): string {
    return this.#value;
  }

  readonly throwIfLost = (minRemainingMs?: number): void => {
    this.#ownership.throwIfLost(minRemainingMs);
  };

  toJSON(): object {
    const { name, id, key, order, token, value, held, remainingMs } = this;
    return { name, id, key, order: inJson(order), token: inJson(token), value, held, remainingMs };
  }

  readonly proclaim = async (value: string): Promise<void> => {
    await this.#ownership.update({ value });
    this.#value = value;
  };

  readonly resign = async (): Promise<void> => {
    const released = this.#ownership.release();
    this.end();
    await released;
  };

  /**
   * Makes `present$` emit the end of this leadership, but does not release the hold. The caller releases the
   * hold unless it is lost.
   */
  end(): void {
    if (this.#present$.value) this.#present$.next(undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resign();
  }
}
