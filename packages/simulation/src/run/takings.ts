import type { Timeline } from '../timeline.ts';
import { conflict, lifeOf, sessionOf, type Held } from './held.ts';
import type { Judge } from './judge.ts';

// A session hands over for at most 100 ms after its first unanswered removal; the rest is the error of the clients' clocks.
const HANDS_OVER_FOR_MS = 150;

/** First release by a session of a queue that another session has taken from it. */
interface Release {
  readonly at: number;
  /** Holds of the session that began afterwards. */
  begun: number;
}

/** Checks that a session soon stops to hand over a queue that another session has taken from it. */
export class Takings {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  /** By the session and the hold that has taken the queue from it. */
  readonly #releases = new Map<string, Release>();

  constructor(timeline: Timeline, judge: Judge) {
    this.#timeline = timeline;
    this.#judge = judge;
  }

  /** Notes a release. `others`: the holds that have begun in the run. */
  release(held: Held, others: readonly Held[]): void {
    const taker = takerOf(held, others);
    if (!taker) return;
    const taking = nameOf(held, taker);
    if (!this.#releases.has(taking)) this.#releases.set(taking, { at: this.#timeline.now(), begun: 0 });
  }

  /**
   * Checks a hold that begins. The first one after the release is allowed at any time, since the client may have been frozen
   * between the hand-over and this moment. `others`: the holds that have begun in the run.
   */
  begin(held: Held, others: readonly Held[]): void {
    const taker = takerOf(held, others);
    const release = taker && this.#releases.get(nameOf(held, taker));
    if (!release) return;
    release.begun += 1;
    const sinceMs = this.#timeline.now() - release.at;
    this.#judge.require(
      'taken',
      release.begun === 1 || sinceMs <= HANDS_OVER_FOR_MS,
      () =>
        `${held.who} begins ${sinceMs} ms after the first release by its session of what ${taker.who} has taken`,
    );
  }
}

/** Returns the hold of another session that has taken the queue from the session of `held`. */
function takerOf(held: Held, others: readonly Held[]): Held | undefined {
  const session = sessionOf(held);
  if (session === undefined) return undefined;
  return others.find(
    (other) => excludes(held, other) && other.token > held.token && sessionOf(other) !== session,
  );
}

function nameOf(held: Held, taker: Held): string {
  return `${String(sessionOf(held))} ${lifeOf(taker)}`;
}

/** Returns whether the two cannot hold at a time: permits of both may fit into the limit. */
function excludes(held: Held, other: Held): boolean {
  return conflict(held, other) && held.permits + other.permits > held.limit;
}
