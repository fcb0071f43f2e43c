import { isQueueLockError, type EntrySpec, type Placement, type Turn } from '@queuelock/core/backend';
import type { Client } from './client.ts';
import type { Rival } from './referee.ts';

/** One entry of a client, with its turns followed. */
export class Contender implements Rival {
  readonly placement: Placement;
  readonly spec: EntrySpec;
  readonly #client: Client;
  readonly #turns: { unsubscribe(): void };
  #admittedAt: number | undefined;
  #leaving = false;
  #lost: unknown;

  constructor(client: Client, spec: EntrySpec, placement: Placement) {
    this.#client = client;
    this.spec = spec;
    this.placement = placement;
    client.stage.referee.joins(this);
    this.#takeTurn(placement.turn);
    this.#turns = placement.turns$.subscribe({
      next: (turn) => {
        this.#takeTurn(turn);
      },
      error: (error: unknown) => {
        this.#lose(error);
      },
      complete: () => {
        client.stage.referee.blame('the turns of an entry completed');
      },
    });
  }

  get queue(): string {
    return this.spec.queue;
  }

  get order(): bigint {
    return this.placement.order;
  }

  get shared(): boolean {
    return this.spec.shared;
  }

  get limit(): number {
    return this.spec.limit;
  }

  get admitted(): boolean {
    return this.#admittedAt !== undefined;
  }

  get leaving(): boolean {
    return this.#leaving;
  }

  /** By the harness's clock. */
  get admittedAt(): number {
    return this.#admittedAt ?? Number.NaN;
  }

  async untilAdmitted(): Promise<void> {
    const { board } = this.#client.stage;
    await board.until('an entry is admitted', () => this.admitted || this.#lost !== undefined);
    if (!this.admitted) throw this.#lost;
  }

  /** The code with which its turns ended. */
  async untilLost(): Promise<string> {
    await this.#client.stage.board.until('an entry learns that it is gone', () => this.#lost !== undefined);
    return isQueueLockError(this.#lost) ? this.#lost.code : String(this.#lost);
  }

  /** Stops to follow the turns; the entry stays in the queue. */
  unfollow(): void {
    this.#turns.unsubscribe();
  }

  /** Unfollows and removes the entry. */
  leave(): Promise<boolean> {
    this.giveUp();
    this.unfollow();
    return this.#client.remove(this.queue, this.spec.id);
  }

  /** From now on it is in nobody's way. */
  giveUp(): void {
    this.#leaving = true;
  }

  #takeTurn({ admitted }: Turn): void {
    const { board, referee, now } = this.#client.stage;
    if (this.admitted && !admitted) referee.blame('an admitted entry went back to waiting');
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
