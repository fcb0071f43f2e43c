import type { Timeline } from '../timeline.ts';
import type { Judge } from './judge.ts';

/** Counts what a client sends. */
export class Storm {
  readonly #client: string;
  readonly #most: number;
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  #second = 0;
  #sent = 0;

  constructor(
    { client, most }: { readonly client: string; readonly most: number },
    timeline: Timeline,
    judge: Judge,
  ) {
    this.#client = client;
    this.#most = most;
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
      this.#sent <= this.#most,
      () => `${this.#client} sends more than ${this.#most} requests in a second`,
    );
  }
}
