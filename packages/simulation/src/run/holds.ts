import type { Timeline } from '../timeline.ts';
import { Beliefs } from './beliefs.ts';
import type { HoldEnd } from './facts.ts';
import { conflict, isSame, lifeOf, sessionOf, type Held } from './held.ts';
import type { Judge } from './judge.ts';
import type { Store, StoredEntry } from './store.ts';
import { Takings } from './takings.ts';

export type { Held };

// Longest TTL in milliseconds that a client requests in any simulated run.
const LONGEST_TTL_MS = 20_000;

/** All holds of a simulated run. Checks that holds which exclude each other do not overlap. */
export class Holds {
  readonly store: Store;
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  readonly #beliefs: Beliefs;
  readonly #takings: Takings;
  readonly #held: Held[] = [];
  readonly #marked = new Set<string>();
  /** Queues in which a client steals the lock, or an operator deletes entries. */
  readonly #unruly = new Set<string>();
  /** Simulated times at which a client began to steal a lock, or an operator deleted an entry. */
  readonly #unrulyAt: number[] = [];
  /** For each deleted entry, by queue and token: the simulated time at which another client deleted it. */
  readonly #deletedAt = new Map<string, number>();
  /** Entries that another session or an operator deleted, by queue and token. */
  readonly #evicted = new Set<string>();
  /** Entries that were still in the queue when their session began its next hold, by queue and token. */
  readonly #handedOver = new Set<string>();
  /** For each queue, the simulated time at which a hold last ended. */
  readonly #endedAt = new Map<string, number>();
  /** The key of each deleted entry, by queue and token. */
  readonly #deletedKeys = new Map<string, string>();
  #grants = 0;

  constructor(timeline: Timeline, judge: Judge, store: Store) {
    this.#timeline = timeline;
    this.#judge = judge;
    this.#beliefs = new Beliefs(timeline, judge);
    this.#takings = new Takings(timeline, judge);
    this.store = store;
    store.onDeleted = (entry, isNamed = false) => {
      this.#deletedAt.set(lifeOf(entry), timeline.now());
      this.#deletedKeys.set(lifeOf(entry), entry.key);
      if (isNamed) this.#evicted.add(lifeOf(entry));
    };
  }

  get grants(): number {
    return this.#grants;
  }

  /**
   * Records a hold that begins, and checks that it does not overlap another one. An ended hold never resumes,
   * so it is enough to check at each beginning.
   */
  begin(held: Held): void {
    this.#grants += 1;
    const { who, queue, token } = held;
    this.#judge.note(`${who} HOLDS ${queue} by ${token}`);
    this.#judge.tell({ type: 'holds', who, queue, token });
    this.#beliefs.begin(held);
    this.#checkExclusive(held);
    this.#checkOrder(held);
    this.#checkTokens(held);
    this.#checkNotified(held);
    this.#takings.begin(held, this.#held);
    this.#held.push(held);
  }

  /**
   * Returns the key that an entry has in the simulated store. Does not call the code under test, since a call
   * may change its state.
   */
  keyOf(queue: string, token: bigint): string {
    const present = this.store.standing(queue).find((entry) => entry.token === token);
    if (present) return present.key;
    const deleted = [...this.#deletedKeys].find(([life]) => life.endsWith(`${queue} ${token}`));
    return deleted?.[1] ?? `${queue}/?`;
  }

  end(held: Held, how: HoldEnd): void {
    if (!held.isOver) this.#checkNotified(held);
    if (how === 'released') this.#takings.release(held, this.#held);
    held.isOver = true;
    this.#endedAt.set(held.queue, this.#timeline.now());
    this.#beliefs.end(held, how);
  }

  /** Ends all holds at the end of the run. */
  finish(): void {
    this.#beliefs.finish();
  }

  /** Records that a hold was downgraded to a shared one, and no longer excludes readers. */
  share(held: Held): void {
    held.shared = true;
    held.isDowngrading = true;
    this.#marked.add(held.key);
  }

  /**
   * Returns whether a client steals the lock of the queue in the simulated run, or an operator deletes its
   * entries.
   */
  isUnruly(queue: string): boolean {
    return this.#unruly.has(queue);
  }

  /** Returns whether the queue was not held during the last `forMs`. */
  isIdle(queue: string, forMs: number): boolean {
    if (this.#held.some((held) => held.queue === queue && !held.isOver && this.#beliefs.isBelieved(held)))
      return false;
    return this.#timeline.now() - (this.#endedAt.get(queue) ?? 0) > forMs;
  }

  /**
   * Records that a client steals the lock of a queue, or that an operator deletes an entry. The holder of a
   * removed entry learns of it only later, and the next holder may be granted before that.
   */
  stealIn(queue: string): void {
    this.#unruly.add(queue);
    this.#unrulyAt.push(this.#timeline.now());
  }

  /**
   * Returns how often a client stole a lock, or an operator deleted an entry, within the last `withinMs`.
   * After each of these events, all waiters may enqueue again.
   */
  thefts(withinMs: number): number {
    return this.#unrulyAt.filter((at) => this.#timeline.now() - at <= withinMs).length;
  }

  #checkExclusive(held: Held): void {
    const others = this.#held.filter((other) => {
      if (other.isOver || !conflict(held, other) || this.#isPassed(held, other)) return false;
      if (!this.#beliefs.isBelieved(other)) this.#beliefs.requireOver(other, held);
      return this.#beliefs.isBelieved(other) && !this.#mayNotKnow(other);
    });
    const taken = others.reduce((sum, { permits }) => sum + permits, held.permits);
    this.#judge.require(
      'exclusive',
      taken <= held.limit,
      () => `${held.who} and ${others.map(({ who, token }) => `${who} (${token})`).join(', ')} at once`,
    );
    const owner = this.store.owner(held.queue);
    this.#judge.require(
      'exclusive',
      owner === undefined || owner === held.key || this.#unruly.has(held.queue),
      () => `${held.who} has not the single key, but ${String(owner)}`,
    );
  }

  /** Returns whether the entry of the hold was removed. The holder may not know this yet. */
  #isRemoved(held: Held): boolean {
    return this.#unruly.has(held.queue) && this.#deletedAt.has(lifeOf(held));
  }

  /**
   * Returns whether the holder may not know yet that another client or an operator has removed its entry.
   * Earlier entries of its session that were in the queue when the hold began also block other clients. So
   * each of these entries must have been evicted too, or removed before the entry of the hold.
   */
  #mayNotKnow(held: Held): boolean {
    const goneAt = this.#deletedAt.get(lifeOf(held)) ?? 0;
    const isLawful = (life: string): boolean =>
      this.#evicted.has(life) || (this.#deletedAt.get(life) ?? Infinity) <= goneAt;
    return this.#isRemoved(held) && (held.standins ?? []).every(isLawful);
  }

  /**
   * Returns whether the client of `held` receives its grant too late: its entry was already removed, and the
   * hold `other` of a later entry has already begun.
   */
  #isPassed(held: Held, other: Held): boolean {
    return other.token > held.token && this.#isRemoved(held);
  }

  #checkNotified(held: Held): void {
    if (!this.#isRemoved(held)) return;
    const goneMs = this.#timeline.now() - (this.#deletedAt.get(lifeOf(held)) ?? 0);
    const isLate = goneMs > LONGEST_TTL_MS && this.#beliefs.isBelieved(held);
    this.#judge.require(
      'reported',
      !isLate,
      () => `${held.who} is held ${goneMs} ms after its entry is gone`,
    );
  }

  #checkOrder(held: Held): void {
    const ahead = this.store.standing(held.queue).filter(({ key, token, shared }) => {
      const isShared = shared || this.#marked.has(key);
      return token < held.token && !(held.shared && isShared);
    });
    const session = sessionOf(held);
    const standins = ahead.filter((one) => session !== undefined && sessionOf(one) === session);
    held.standins = standins.map(lifeOf);
    for (const life of held.standins) this.#handedOver.add(life);
    // A writer that becomes a reader has two nodes for a moment. If the writer is evicted at that time, the
    // reader's node may remain. Such a node does not count as ahead: the conversion fails, and the client
    // deletes the node.
    const isRemnant = (one: StoredEntry): boolean => one.shared && this.#evicted.has(lifeOf(one));
    const others = ahead.filter((one) => !this.#handedOver.has(lifeOf(one)) && !isRemnant(one));
    const taken = others.reduce((sum, { permits }) => sum + permits, held.permits);
    this.#judge.require(
      'order',
      taken <= held.limit,
      () => `ahead of ${held.who} (${held.token}): ${others.map(lifeOf).join(', ')}`,
    );
  }

  #checkTokens(held: Held): void {
    if (held.limit > 1 || this.#isRemoved(held)) return;
    const earlier = this.#held.filter((other) => conflict(held, other) && !isSame(held, other));
    const later = earlier.find((other) => other.token >= held.token && !other.shared);
    this.#judge.require(
      'tokens',
      !later,
      () => `${held.who} has ${held.token} after ${String(later?.token)}`,
    );
    const { grantToken } = held;
    const newer = earlier.find(
      (other) =>
        grantToken !== undefined && (other.grantToken ?? 0n) >= grantToken && !this.#isRemoved(other),
    );
    this.#judge.require(
      'tokens',
      !newer,
      () => `${held.who} was granted at ${String(grantToken)} after ${String(newer?.grantToken)}`,
    );
  }
}
