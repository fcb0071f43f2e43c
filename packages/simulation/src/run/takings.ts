import type { Timeline } from '../timeline.ts';
import { conflict, lifeOf, sessionOf, type Held } from './held.ts';
import type { Judge } from './judge.ts';

// 100 ms between the first removal without an answer and the last hand-over, and what the clocks of clients are off.
const HANDS_ON_FOR_MS = 150;

/** What sessions do with a queue that was taken from them, and of which they have not heard. */
export class Takings {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  /** By session, and the hold that has taken the queue from it: when a hold of the session began first after that. */
  readonly #handedOnAt = new Map<string, number>();

  constructor(timeline: Timeline, judge: Judge) {
    this.#timeline = timeline;
    this.#judge = judge;
  }

  /** One hold may begin at any time: of a client that was frozen, or that releases what it does not know to be lost. */
  check(held: Held, earlier: readonly Held[]): void {
    const session = sessionOf(held);
    const taker = earlier.find(
      (other) => conflict(held, other) && other.token > held.token && sessionOf(other) !== session,
    );
    if (session === undefined || !taker) return;
    const taking = `${session} ${lifeOf(taker)}`;
    const now = this.#timeline.now();
    const firstAt = this.#handedOnAt.get(taking) ?? now;
    this.#handedOnAt.set(taking, firstAt);
    const sinceMs = now - firstAt;
    this.#judge.require(
      'taken',
      sinceMs <= HANDS_ON_FOR_MS,
      () => `${held.who} begins ${sinceMs} ms after its session began to hand on what ${taker.who} has taken`,
    );
  }
}
