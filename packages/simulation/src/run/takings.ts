import type { Timeline } from '../timeline.ts';
import { conflict, lifeOf, sessionOf, type Held } from './held.ts';
import type { Judge } from './judge.ts';

// 100 ms between the first unanswered removal and the last hand-over, and the error of the clients' clocks.
const HANDS_ON_FOR_MS = 150;

/** Checks what sessions do with a queue that was taken from them before they are notified. */
export class Takings {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  /** By session and the hold that has taken the queue from it: time at which a hold of the session first began afterwards. */
  readonly #handedOnAt = new Map<string, number>();

  constructor(timeline: Timeline, judge: Judge) {
    this.#timeline = timeline;
    this.#judge = judge;
  }

  /** Allows one hold at any time: of a client that was frozen, or that releases a hold that it does not know to be lost. */
  check(held: Held, earlier: readonly Held[]): void {
    const session = sessionOf(held);
    const taker = earlier.find(
      (other) => excludes(held, other) && other.token > held.token && sessionOf(other) !== session,
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

/** Returns whether the two cannot hold at a time: permits of both may fit into the limit. */
function excludes(held: Held, other: Held): boolean {
  return conflict(held, other) && held.permits + other.permits > held.limit;
}
