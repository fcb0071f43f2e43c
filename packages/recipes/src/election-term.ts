import { isQueueLockError, type ClaimOptions, type Ownership } from '@queuelock/core';
import type { Leadership } from './election-api.ts';
import { BehaviorSubject, type Observable } from './rx.ts';

/** How a candidate stands. With an `id` it goes on with an entry that shows the value of an earlier process still. */
export type Stand = Required<Pick<ClaimOptions, 'value'>> & Pick<ClaimOptions, 'id'>;

/** What the hold of an elected candidate is. */
export async function elected(ownership: Ownership, { value, id }: Stand): Promise<Term> {
  const term = new Term(ownership, value);
  if (id !== undefined) await term.proclaim(value);
  return term;
}

/** Whether standing again may end better. */
export function mayPass(error: unknown): boolean {
  return isQueueLockError(error) && error.retryable;
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
    ownership.signal.addEventListener('abort', () => this.#present$.next(undefined));
  }

  /** This leadership until it is lost or given up; the claim tells of that some time later. */
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

  throwIfLost(needsMs?: number): void {
    this.#ownership.throwIfLost(needsMs);
  }

  async proclaim(value: string): Promise<void> {
    await this.#ownership.update({ value });
    this.#value = value;
  }

  async resign(): Promise<void> {
    const released = this.#ownership.release();
    this.#present$.next(undefined);
    await released;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resign();
  }
}
