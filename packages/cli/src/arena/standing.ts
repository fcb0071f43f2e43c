import type { Contenders } from '@queuelock/bridge';
import { positionsOf, type QueueEntry } from '@queuelock/core';
import type { ContendEvent } from '../contend/event.ts';

/** A contender as the page shows it. */
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

/** Where a contender stands: by what it says, and as the store has it. */
export class Standing {
  #last: ContendEvent | undefined;
  #entries: readonly QueueEntry[] = [];
  #position: number | undefined;
  #hasExpired = false;

  /** The latest that it has said. */
  get last(): ContendEvent | undefined {
    return this.#last;
  }

  get status(): PlayerSnapshot['status'] {
    if (!this.#last) return 'starts';
    return this.#hasExpired ? 'expired' : STATUS[this.#last.ev];
  }

  /** What a snapshot shows of its entry. */
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

  /** The queue as the store has it. Answers whether its entry is gone, which one that is deaf cannot know. */
  look(entries: readonly QueueEntry[], isDeaf: boolean): boolean {
    this.#entries = entries;
    const wasThere = this.#position !== undefined;
    this.#find();
    if (!isDeaf || !wasThere || this.#position !== undefined) return false;
    this.#hasExpired = true;
    return true;
  }

  /** By what it has said. */
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
