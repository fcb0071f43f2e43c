import type { Timeline } from '../timeline.ts';
import { conflict, lifeOf, sessionOf, type Held } from './held.ts';
import type { Judge } from './judge.ts';

// Longest time in milliseconds for which a session may hand over after its queue was taken: 100 ms after the
// first removal without a response, and the error of the clients' clocks.
const HANDS_ON_FOR_MS = 150;

/**
 * Checks what a session does with a queue that another session has taken, before the former one is notified.
 */
export class Takings {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  /**
   * For each session and each hold that took a queue from it: the true time at which the session first began
   * a hold afterwards.
   */
  readonly #handedOnAt = new Map<string, number>();

  constructor(timeline: Timeline, judge: Judge) {
    this.#timeline = timeline;
    this.#judge = judge;
  }

  /**
   * Checks a hold that begins after the queue was taken. One such hold is allowed at any time, since the
   * client may be frozen, or may release a hold that it does not know to be lost.
   */
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

/** Returns whether the two holds cannot exist at the same time. Permits of both may fit into the limit. */
function excludes(held: Held, other: Held): boolean {
  return conflict(held, other) && held.permits + other.permits > held.limit;
}
