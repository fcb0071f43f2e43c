import { QueueLockError, type Ownership } from '@queuelock/core';
import { CallerAbortController, checkedSignal, inJson } from '@queuelock/core/backend';
import type { CohortHold } from './cohort-api.ts';

/**
 * The hold of one acquirer of a cohort: it acts under the lock that the whole cohort holds. It ends once:
 * when the acquirer releases it, or when the cohort loses the lock.
 */
export class LocalHold implements CohortHold {
  readonly #shared: Ownership;
  readonly #handOn: () => Promise<void>;
  /**
   * The controller of `signal`. It is created when the acquirer first reads `signal`, so that abort listeners
   * run in the acquirer's asynchronous context.
   */
  #loss: CallerAbortController | undefined;
  #signal: AbortSignal | undefined;
  #end: 'released' | 'lost' | undefined;
  #lossError: unknown;
  #released: Promise<void> | undefined;

  /**
   * @param handOn passes the cohort's hold to the next local acquirer, or releases the lock; resolves when
   * that is confirmed
   */
  constructor(shared: Ownership, handOn: () => Promise<void>) {
    this.#shared = shared;
    this.#handOn = handOn;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#newSignal();
    return this.#signal;
  }

  get name(): string {
    return this.#shared.name;
  }

  get id(): string {
    return this.#shared.id;
  }

  get order(): bigint {
    return this.#shared.order;
  }

  get token(): bigint {
    return this.#shared.token;
  }

  get remainingMs(): number {
    if (this.#end) return 0;
    const left = this.#shared.remainingMs;
    if (left === 0) this.revoke(this.#shared.signal.reason);
    return left;
  }

  get held(): boolean {
    return this.remainingMs > 0;
  }

  toJSON(): object {
    const { name, id, order, token, held, remainingMs } = this;
    return { name, id, order: inJson(order), token: inJson(token), held, remainingMs };
  }

  readonly throwIfLost = (minRemainingMs?: number): void => {
    if (this.#end === 'released')
      throw new QueueLockError('OWNERSHIP_LOST', `${JSON.stringify(this.name)} was released`);
    if (!this.held) throw this.#lossError;
    this.#shared.throwIfLost(minRemainingMs);
  };

  readonly release = (): Promise<void> => {
    this.#released ??= this.#release();
    return this.#released;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** Ends the hold against its owner's will. Does nothing if it has ended already. */
  revoke(reason: unknown): void {
    if (this.#end) return;
    this.#end = 'lost';
    this.#lossError = reason;
    this.#loss?.abort(reason);
  }

  #newSignal(): AbortSignal {
    this.#loss = new CallerAbortController();
    if (this.#end === 'lost') this.#loss.abort(this.#lossError);
    return checkedSignal(this.#loss, () => this.held);
  }

  async #release(): Promise<void> {
    if (!this.held) return;
    this.#end = 'released';
    await this.#handOn();
  }
}
