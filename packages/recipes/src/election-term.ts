import { isQueueLockError, type Ownership } from '@queuelock/core';
import { inJson } from '@queuelock/core/backend';
import type { Leadership } from './election-api.ts';
import { BehaviorSubject, type Observable } from './rx.ts';

/** Returns whether another candidacy may succeed. A hold that was lost before the work began counts like a failed wait. */
export function mayPass(error: unknown): boolean {
  return isQueueLockError(error) && (error.retryable || error.code === 'OWNERSHIP_LOST');
}

/** One hold of an election's queue, as a leadership. */
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

  /** Emits this leadership, and `undefined` when it is lost or resigned. The claim reports that end some time later. */
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

  /** Emits the end of this leadership, which has come or is about to come. Releasing the hold is left to the caller. */
  end(): void {
    if (this.#present$.value) this.#present$.next(undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resign();
  }
}
