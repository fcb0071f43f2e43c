import { expect } from 'chai';
import { isQueueLockError, type EntrySpec, type Placement, type Turn } from '@queuelock/core/backend';
import type { Fixture } from './fixture.ts';
import type { RefereedEntry } from './referee.ts';
import { safely } from './safety.ts';

/** The methods and properties of a client that its contenders use. */
export interface ContenderClient {
  readonly stage: Fixture;
  /** The time until which the store has promised to keep the session, by the harness's clock. */
  readonly promisedUntil: number;
  enqueue(spec: EntrySpec): Promise<Placement>;
  share(queue: string, id: string, value: string): Promise<boolean>;
  remove(queue: string, id: string): Promise<boolean>;
}

/** An entry of a client, with a subscription to its turns. */
export class Contender implements RefereedEntry {
  readonly placement: Placement;
  readonly spec: EntrySpec;
  readonly #client: ContenderClient;
  #turns: { unsubscribe(): void };
  #limit: number;
  #shared: boolean;
  #admittedAt: number | undefined;
  #leaving = false;
  #lost: unknown;

  constructor(client: ContenderClient, spec: EntrySpec, placement: Placement) {
    this.#client = client;
    this.spec = spec;
    this.placement = placement;
    this.#limit = spec.limit;
    this.#shared = spec.shared;
    client.stage.referee.joins(this);
    this.#turns = this.#follow(placement);
  }

  get queue(): string {
    return this.spec.queue;
  }

  get order(): bigint {
    return this.placement.order;
  }

  get shared(): boolean {
    return this.#shared;
  }

  get limit(): number {
    return this.#limit;
  }

  get permits(): number {
    return this.spec.permits ?? 1;
  }

  get admitted(): boolean {
    return this.#admittedAt !== undefined;
  }

  get leaving(): boolean {
    return this.#leaving;
  }

  get promised(): boolean {
    return this.#client.stage.now() < this.#client.promisedUntil;
  }

  /** Time of the entry's admission by the harness's clock; `NaN` before the admission. */
  get admittedAt(): number {
    return this.#admittedAt ?? Number.NaN;
  }

  async untilAdmitted(): Promise<void> {
    const { board } = this.#client.stage;
    await board.until('an entry is admitted', () => this.admitted || this.#lost !== undefined);
    if (!this.admitted) throw this.#lost;
  }

  /** Resolves with the code of the error with which the subscription to the entry's turns ended. */
  async untilLost(): Promise<string> {
    await this.#client.stage.board.until('an entry learns that it is gone', () => this.#lost !== undefined);
    return isQueueLockError(this.#lost) ? this.#lost.code : String(this.#lost);
  }

  /**
   * Enters the queue again with the same entry and another limit of the semaphore. Replaces the subscription
   * by one to the entry's turns under that limit.
   */
  async resize(limit: number): Promise<void> {
    // The notification of a grant under the higher limit may arrive before the response to the call. So the
    // referee, which checks every admission, must allow such a grant from now on.
    this.#limit = Math.max(this.#limit, limit);
    const placement = await this.#client.enqueue({ ...this.spec, limit });
    this.#limit = limit;
    this.unfollow();
    this.#turns = this.#follow(placement);
    this.requirePlace(placement);
  }

  /** Converts the entry to a shared one. */
  async share(value: string): Promise<boolean> {
    // The store may admit the readers behind this entry before the response to the call arrives. So the
    // referee, which checks every admission, must treat the entry as shared from now on.
    this.#shared = true;
    return this.#client.share(this.queue, this.spec.id, value);
  }

  /** Throws unless a repeated enqueue has returned the same order number, token and key as the first one. */
  requirePlace({ order, token, key }: Placement): void {
    const { placement } = this;
    safely(() =>
      expect({ order, token, key }, 'the same place').to.deep.equal({
        order: placement.order,
        token: placement.token,
        key: placement.key,
      }),
    );
  }

  /** Ends the subscription to the entry's turns. The entry stays in the queue. */
  unfollow(): void {
    this.#turns.unsubscribe();
  }

  /** Ends the subscription to the entry's turns, and removes the entry. */
  leave(): Promise<boolean> {
    this.giveUp();
    this.unfollow();
    return this.#client.remove(this.queue, this.spec.id);
  }

  /**
   * Marks the entry as about to leave. From now on its loss is no violation, and the entries behind it may be
   * admitted.
   */
  giveUp(): void {
    this.#leaving = true;
  }

  #follow({ turn, turns$ }: Placement): { unsubscribe(): void } {
    this.#takeTurn(turn);
    return turns$.subscribe({
      next: (next) => {
        this.#takeTurn(next);
      },
      error: (error: unknown) => {
        this.#lose(error);
      },
      complete: () => {
        this.#client.stage.referee.blame('the turns of an entry completed');
      },
    });
  }

  #takeTurn({ admitted }: Turn): void {
    const { board, referee, now } = this.#client.stage;
    if (this.admitted && !admitted) referee.accuse('an admitted entry went back to waiting');
    if (admitted && !this.admitted) {
      this.#admittedAt = now();
      referee.admits(this);
    }
    board.note();
  }

  #lose(error: unknown): void {
    const { board, referee } = this.#client.stage;
    if (!isQueueLockError(error, 'ENTRY_LOST') && !isQueueLockError(error, 'SESSION_LOST')) {
      referee.blame(`the turns of an entry ended with something else than a loss: ${String(error)}`);
    }
    if (!this.#leaving) referee.blame(`an entry was lost for no reason: ${String(error)}`);
    this.#lost = error;
    board.note();
  }
}
