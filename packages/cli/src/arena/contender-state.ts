import type { Contenders } from '@queuelock/bridge';
import { positionsOf, type QueueEntry } from '@queuelock/core';
import type { ContendEvent } from '../contend/event.ts';

/** A contender as the demo page shows it. */
export type PlayerSnapshot = ReturnType<Contenders['draw']>['contenders'][number];

const STATUS: Record<ContendEvent['ev'], PlayerSnapshot['status']> = {
  requesting: 'joins',
  enqueued: 'waits',
  acquired: 'holds',
  released: 'rests',
  lost: 'rests',
  cancelled: 'rests',
  error: 'rests',
};

/** State of a contender. It combines the events that the contender reports with the entries of the queue. */
export class ContenderState {
  #last: ContendEvent | undefined;
  #entries: readonly QueueEntry[] = [];
  #position: number | undefined;
  #hasExpired = false;

  /** The latest event that the contender reported. */
  get last(): ContendEvent | undefined {
    return this.#last;
  }

  get status(): PlayerSnapshot['status'] {
    if (!this.#last) return 'starts';
    return this.#hasExpired ? 'expired' : STATUS[this.#last.ev];
  }

  /** Position and token of the contender's entry, for a snapshot of the demo page. */
  get entry(): Pick<PlayerSnapshot, 'position' | 'token'> {
    const token = this.#last?.zxid ?? this.#last?.token;
    if (!this.#isIn || this.#hasExpired) return {};
    return {
      ...(this.#position === undefined ? {} : { position: this.#position }),
      ...(token === undefined ? {} : { token }),
    };
  }

  follow(event: ContendEvent): void {
    if (event.ev !== 'acquired') {
      this.#position = undefined;
      this.#hasExpired = false;
    }
    this.#last = event;
    this.#find();
  }

  /**
   * Updates the state from the entries of the queue.
   * @param isDeaf whether the contender is frozen, cut off or ended, so that the store cannot notify it
   * @returns whether the contender's entry was removed without a way for the contender to notice
   */
  update(entries: readonly QueueEntry[], isDeaf: boolean): boolean {
    this.#entries = entries;
    const wasThere = this.#position !== undefined;
    this.#find();
    if (!isDeaf || !wasThere || this.#position !== undefined) return false;
    this.#hasExpired = true;
    return true;
  }

  /** Whether the contender is in the queue according to its own events. */
  get #isIn(): boolean {
    return this.#last?.ev === 'enqueued' || this.#last?.ev === 'acquired';
  }

  #find(): void {
    if (!this.#isIn) return;
    const isOwn = ({ key, order }: QueueEntry): boolean =>
      key === this.#last?.key && String(order) === this.#last.token;
    this.#position = [...positionsOf(this.#entries)].find(([entry]) => isOwn(entry))?.[1];
  }
}
