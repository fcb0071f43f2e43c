import type { Timeline } from '../timeline.ts';
import { conflict, lifeOf, sessionOf, type Held } from './held.ts';
import type { Judge } from './judge.ts';

// Longest time in milliseconds for which a session may hand over among its own entries after another session
// has taken the queue. It is 100 ms from the first removal without a response, plus the error of the clients'
// clocks.
const HANDS_OVER_FOR_MS = 150;

/** The first release of a queue by a session after another session has taken the queue from it. */
interface Release {
  readonly at: number;
  /** Number of holds of the session that began after that release. */
  begun: number;
}

/** Checks that a session soon stops handing over a queue that another session has taken from it. */
export class Takings {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  /**
   * For each session and each hold that has taken a queue from it: the session's first release after that.
   */
  readonly #releases = new Map<string, Release>();

  constructor(timeline: Timeline, judge: Judge) {
    this.#timeline = timeline;
    this.#judge = judge;
  }

  /** Records a release. `others` are the holds that have begun in the run. */
  release(held: Held, others: readonly Held[]): void {
    const taker = takerOf(held, others);
    if (!taker) return;
    const taking = nameOf(held, taker);
    if (!this.#releases.has(taking)) this.#releases.set(taking, { at: this.#timeline.now(), begun: 0 });
  }

  /**
   * Checks a hold that begins. The first hold after the release is allowed at any time, since the client may
   * have been frozen between the hand-over and this moment. `others` are the holds that have begun in the run.
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

/** Returns whether the two holds cannot exist at the same time. Permits of both may fit into the limit. */
function excludes(held: Held, other: Held): boolean {
  return conflict(held, other) && held.permits + other.permits > held.limit;
}
