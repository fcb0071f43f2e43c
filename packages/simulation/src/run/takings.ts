import type { Timeline } from '../timeline.ts';
import { conflict, lifeOf, sessionOf, type Held } from './held.ts';
import type { Judge } from './judge.ts';

// Longest time in milliseconds for which a session may hand off a queue among its own waiters, after another
// session has stolen the queue. It counts from the first release after the steal. The product stops 100 ms
// after it has requested a removal that gets no response. The other 50 ms allow for the errors of simulated
// clocks.
const HANDS_OVER_FOR_MS = 150;

/**
 * The first release by a robbed session, from which another session has stolen the queue. It comes after the
 * steal.
 */
interface Release {
  readonly at: number;
  /** Number of holds that the robbed session has begun since this release. */
  begun: number;
}

/** Checks that a session whose queue was stolen soon stops granting the queue to its own entries. */
export class Takings {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  /**
   * For each steal, the first release by the robbed session after the steal. The key consists of the robbed
   * session and the hold that stole the queue.
   */
  readonly #releases = new Map<string, Release>();

  constructor(timeline: Timeline, judge: Judge) {
    this.#timeline = timeline;
    this.#judge = judge;
  }

  /** Records that a session releases a hold. `others` are all holds that have begun in the run. */
  release(held: Held, others: readonly Held[]): void {
    const taker = takerOf(held, others);
    if (!taker) return;
    const taking = nameOf(held, taker);
    if (!this.#releases.has(taking)) this.#releases.set(taking, { at: this.#timeline.now(), begun: 0 });
  }

  /**
   * Checks the beginning of a hold in a robbed session, from which another session has stolen the queue.
   * After its first release, the robbed session may hand the queue over to its own entries only for
   * `HANDS_OVER_FOR_MS`.
   * One hold after that time is allowed, since the client may have been frozen between the release and this
   * hold.
   * @param others all holds that have begun in the run
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

/** Returns the hold of another session that stole the queue from the session of `held`. */
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

/**
 * Returns whether the two holds cannot exist at the same time. Two holds with permits can, if the limit is
 * high enough.
 */
function excludes(held: Held, other: Held): boolean {
  return conflict(held, other) && held.permits + other.permits > held.limit;
}
