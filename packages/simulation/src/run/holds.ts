import { Machine, type Timeline } from '../timeline.ts';
import { Beliefs } from './beliefs.ts';
import type { HoldEnd } from './facts.ts';
import type { Judge } from './judge.ts';
import type { Standing, Store } from './store.ts';

/** A hold as its program sees it. */
export interface Held {
  readonly who: string;
  readonly machine: Machine;
  readonly queue: string;
  readonly key: string;
  readonly token: bigint;
  readonly grantToken?: bigint | undefined;
  readonly limit: number;
  readonly permits: number;
  shared: boolean;
  /** What the product says now. */
  readonly remainingMs: () => number;
  /** Released, or its process is gone. */
  isOver: boolean;
  /** It began while these still stood there, which its session had left. */
  standins?: readonly string[];
}

/** A write that is guarded by the entry of a hold. */
type Writing = Pick<Held, 'who' | 'queue' | 'key' | 'token'>;

// 100 ms between the first removal without an answer and the last hand-over, and the time of the clients' clocks.
const HANDS_ON_FOR_MS = 150;
// The longest time to live that a client asks for.
const LONGEST_TTL_MS = 20_000;

/** All holds of a run, and whether they may be. */
export class Holds {
  readonly store: Store;
  readonly #timeline: Timeline;
  readonly #network: Machine;
  readonly #judge: Judge;
  readonly #beliefs: Beliefs;
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
  /** By queue: the token of the hold whose guarded write was accepted last. */
  readonly #writtenBy = new Map<string, bigint>();
  /** The keys of entries that were deleted, by queue and token. */
  readonly #deletedKeys = new Map<string, string>();
  /** By session, and the hold that has taken the queue from it: when a hold of the session began first after that. */
  readonly #handedOnAt = new Map<string, number>();
  #grants = 0;

  constructor(timeline: Timeline, judge: Judge, store: Store) {
    this.#timeline = timeline;
    this.#network = new Machine(timeline, 'network');
    this.#judge = judge;
    this.#beliefs = new Beliefs(timeline, judge);
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
    this.#checkTaken(held);
    this.#held.push(held);
  }

  /** The key of an entry. The product is not asked: to read a key of it has an effect. */
  keyOf(queue: string, token: bigint): string {
    const standing = this.store.standing(queue).find((entry) => entry.token === token);
    if (standing) return standing.key;
    const deleted = [...this.#deletedKeys].find(([life]) => life.endsWith(`${queue} ${token}`));
    return deleted?.[1] ?? `${queue}/?`;
  }

  /** Sends a write that arrives after that time, whatever becomes of the client that sent it. */
  write(writing: Writing, takesMs: number): void {
    this.#network.after(takesMs, () => this.#arrives(writing));
  }

  /** It is accepted if the entry of that hold is there: what a transaction decides that compares the entry's key. */
  #arrives({ who, queue, key, token }: Writing): void {
    const isThere = this.store.standing(queue).some((entry) => entry.key === key && entry.token === token);
    this.#judge.note(`${who} writes by ${token}, which is ${isThere ? 'accepted' : 'refused'}`);
    if (!isThere) return;
    const before = this.#writtenBy.get(queue) ?? 0n;
    this.#judge.require(
      'guarded',
      token >= before,
      () => `${who} writes to ${queue} by ${token} after a write by ${before}`,
    );
    this.#writtenBy.set(queue, token);
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
    if (this.#held.some((held) => held.queue === queue && !held.isOver && this.#isHeld(held))) return false;
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
      return this.#isHeld(other) && !this.#mayNotKnow(other);
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

  #isHeld(held: Held): boolean {
    const isHeld = this.#timeline.as(held.machine, held.remainingMs) > 0;
    if (isHeld) this.#beliefs.seen(held);
    return isHeld;
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
    const isLate = goneMs > LONGEST_TTL_MS && this.#isHeld(held);
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

  /** One hold may begin at any time: of a client that was frozen, or that releases what it does not know to be lost. */
  #checkTaken(held: Held): void {
    const session = sessionOf(held);
    const taker = this.#held.find(
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

function conflict(one: Held, other: Held): boolean {
  return one.queue === other.queue && !(one.shared && other.shared);
}

/** Whether it is the hold of another process that the session had before. */
function isSame(one: Held, other: Held): boolean {
  return lifeOf(one) === lifeOf(other);
}

/** Which it belongs to, as far as its key tells. */
function sessionOf({ key }: Pick<Standing, 'key'>): string | undefined {
  return /\/(?:~\d+\.)?([0-9a-f]+)-[^/]*$/.exec(key)?.[1];
}

/** By its token, which nobody else in the queue has: a writer that has turned into a reader has another key, and keeps that. */
function lifeOf({ key, token }: Pick<Standing, 'key' | 'token'>): string {
  return `${key.slice(0, key.lastIndexOf('/'))} ${token}`;
}
