import type { Timeline } from '../timeline.ts';
import { Beliefs } from './beliefs.ts';
import type { HoldEnd } from './facts.ts';
import { conflict, isSame, lifeOf, sessionOf, type Held } from './held.ts';
import type { Judge } from './judge.ts';
import type { Store } from './store.ts';
import { Takings } from './takings.ts';

export type { Held };

// The longest time to live that a client asks for.
const LONGEST_TTL_MS = 20_000;

/** All holds of a run, and whether they may be. */
export class Holds {
  readonly store: Store;
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  readonly #beliefs: Beliefs;
  readonly #takings: Takings;
  readonly #held: Held[] = [];
  readonly #marked = new Set<string>();
  /** Queues in which somebody removes entries of others. */
  readonly #unruly = new Set<string>();
  /** When somebody began to steal, or deleted an entry. */
  readonly #unrulyAt: number[] = [];
  /** When entries were deleted by somebody, by queue and token. */
  readonly #deletedAt = new Map<string, number>();
  /** Those of them that their session has not taken out. */
  readonly #evicted = new Set<string>();
  /** Those after which another one of their session held while they stood there still. */
  readonly #handedOver = new Set<string>();
  /** When a hold ended there last. */
  readonly #endedAt = new Map<string, number>();
  /** The keys of entries that were deleted, by queue and token. */
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

  /** A hold begins. Since none comes back, nothing overlaps if nothing does in such a moment. */
  begin(held: Held): void {
    this.#grants += 1;
    const { who, queue, token } = held;
    this.#judge.note(`${who} HOLDS ${queue} by ${token}`);
    this.#judge.tell({ type: 'holds', who, queue, token });
    this.#beliefs.begin(held);
    this.#checkExclusive(held);
    this.#checkOrder(held);
    this.#checkTokens(held);
    this.#checkTold(held);
    this.#takings.check(held, this.#held);
    this.#held.push(held);
  }

  /** The key of an entry. The product is not asked: to read a key of it has an effect. */
  keyOf(queue: string, token: bigint): string {
    const standing = this.store.standing(queue).find((entry) => entry.token === token);
    if (standing) return standing.key;
    const deleted = [...this.#deletedKeys].find(([life]) => life.endsWith(`${queue} ${token}`));
    return deleted?.[1] ?? `${queue}/?`;
  }

  end(held: Held, how: HoldEnd): void {
    if (!held.isOver) this.#checkTold(held);
    held.isOver = true;
    this.#endedAt.set(held.queue, this.#timeline.now());
    this.#beliefs.end(held, how);
  }

  /** The run is over. */
  finish(): void {
    this.#beliefs.finish();
  }

  /** From now on it keeps nobody out who reads. */
  share(held: Held): void {
    held.shared = true;
    this.#marked.add(held.key);
  }

  /** Whether somebody may have removed entries there. */
  isUnruly(queue: string): boolean {
    return this.#unruly.has(queue);
  }

  /** Whether nobody has held it for that long. */
  isIdle(queue: string, forMs: number): boolean {
    if (this.#held.some((held) => held.queue === queue && !held.isOver && this.#beliefs.isBelieved(held)))
      return false;
    return this.#timeline.now() - (this.#endedAt.get(queue) ?? 0) > forMs;
  }

  /** Whoever's entry is removed there learns it some time later, and others may hold before. */
  stealIn(queue: string): void {
    this.#unruly.add(queue);
    this.#unrulyAt.push(this.#timeline.now());
  }

  /** How often that was so in the last so many milliseconds: each makes all who stood there join again. */
  thefts(withinMs: number): number {
    return this.#unrulyAt.filter((at) => this.#timeline.now() - at <= withinMs).length;
  }

  #checkExclusive(held: Held): void {
    const others = this.#held.filter((other) => {
      if (other.isOver || !conflict(held, other) || this.#isPassed(held, other)) return false;
      if (!this.#beliefs.isBelieved(other)) this.#beliefs.requireOver(other);
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

  /** Whether somebody has removed its entry, which it may not know yet. */
  #isRemoved(held: Held): boolean {
    return this.#unruly.has(held.queue) && this.#deletedAt.has(lifeOf(held));
  }

  /** Whether its entry was taken from it, which it may not know yet. Those that stood for it are not taken out by their session then. */
  #mayNotKnow(held: Held): boolean {
    const goneAt = this.#deletedAt.get(lifeOf(held)) ?? 0;
    const isLawful = (life: string): boolean =>
      this.#evicted.has(life) || (this.#deletedAt.get(life) ?? Infinity) <= goneAt;
    return this.#isRemoved(held) && (held.standins ?? []).every(isLawful);
  }

  /** Whether it only hears now of a turn that it had before its entry was removed and the other one came. */
  #isPassed(held: Held, other: Held): boolean {
    return other.token > held.token && this.#isRemoved(held);
  }

  #checkTold(held: Held): void {
    if (!this.#isRemoved(held)) return;
    const goneMs = this.#timeline.now() - (this.#deletedAt.get(lifeOf(held)) ?? 0);
    const isLate = goneMs > LONGEST_TTL_MS && this.#beliefs.isBelieved(held);
    this.#judge.require('told', !isLate, () => `${held.who} is held ${goneMs} ms after its entry is gone`);
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
    const others = ahead.filter((one) => !this.#handedOver.has(lifeOf(one)));
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
