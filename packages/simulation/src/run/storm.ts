import type { Timeline } from '../timeline.ts';
import type { Judge } from './judge.ts';

const MOST_A_SECOND = 100;

/** Counts what a client sends. */
export class Storm {
  readonly #client: string;
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  #second = 0;
  #sent = 0;

  constructor(client: string, timeline: Timeline, judge: Judge) {
    this.#client = client;
    this.#timeline = timeline;
    this.#judge = judge;
  }

  sent(): void {
    const second = Math.floor(this.#timeline.now() / 1_000);
    if (second !== this.#second) this.#sent = 0;
    this.#second = second;
    this.#sent += 1;
    this.#judge.require(
      'no storm',
      this.#sent <= MOST_A_SECOND,
      () => `${this.#client} sends more than ${MOST_A_SECOND} requests in a second`,
    );
  }
}
