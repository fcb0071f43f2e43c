import type { Timeline } from '../timeline.ts';
import type { Holds } from './holds.ts';
import type { Judge } from './judge.ts';

const SECOND_MS = 1_000;

interface StormOptions {
  readonly client: string;
  /** Largest number of requests per second that the client may send. */
  readonly most: number;
  readonly holds: Pick<Holds, 'thefts'>;
}

/**
 * Checks that a client sends no more requests per second than allowed. Each steal of the last two seconds
 * adds the full limit once more, since the waiters whose entries were removed enqueue again and may steal
 * again.
 */
export class Storm {
  readonly #client: string;
  readonly #most: number;
  readonly #holds: Pick<Holds, 'thefts'>;
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  #second = 0;
  #sent = 0;

  constructor({ client, most, holds }: StormOptions, timeline: Timeline, judge: Judge) {
    this.#client = client;
    this.#most = most;
    this.#holds = holds;
    this.#timeline = timeline;
    this.#judge = judge;
  }

  sent(): void {
    const second = Math.floor(this.#timeline.now() / SECOND_MS);
    if (second !== this.#second) this.#sent = 0;
    this.#second = second;
    this.#sent += 1;
    if (this.#sent <= this.#most) return;
    const most = this.#most * (1 + this.#holds.thefts(2 * SECOND_MS));
    this.#judge.require(
      'no storm',
      this.#sent <= most,
      () => `${this.#client} sends more than ${most} requests in a second`,
    );
  }
}
