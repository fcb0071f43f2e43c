import type { Store } from '../etcd/store.ts';
import type { Machine, Timeline } from '../timeline.ts';
import type { Judge } from './judge.ts';

/** A hold as its program sees it. */
export interface Held {
  readonly who: string;
  readonly machine: Machine;
  readonly queue: string;
  readonly key: string;
  readonly token: bigint;
  readonly limit: number;
  readonly permits: number;
  shared: boolean;
  /** What the product says now. */
  readonly isHeld: () => boolean;
  /** Released, or its process is gone. */
  isOver: boolean;
}

/** All holds of a run, and whether they may be. */
export class Holds {
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  readonly #store: Store;
  readonly #held: Held[] = [];
  readonly #marked = new Set<string>();
  #grants = 0;

  constructor(timeline: Timeline, judge: Judge, store: Store) {
    this.#timeline = timeline;
    this.#judge = judge;
    this.#store = store;
  }

  get grants(): number {
    return this.#grants;
  }

  /** A hold begins. Since none comes back, nothing overlaps if nothing does in such a moment. */
  begin(held: Held): void {
    this.#grants += 1;
    this.#judge.note(`${held.who} HOLDS ${held.queue} by ${held.token}`);
    this.#checkExclusive(held);
    this.#checkOrder(held);
    this.#checkTokens(held);
    this.#held.push(held);
  }

  end(held: Held): void {
    held.isOver = true;
  }

  /** From now on it keeps nobody out who reads. */
  share(held: Held): void {
    held.shared = true;
    this.#marked.add(held.key);
  }

  #checkExclusive(held: Held): void {
    const others = this.#held.filter(
      (other) => !other.isOver && conflict(held, other) && this.#timeline.as(other.machine, other.isHeld),
    );
    const taken = others.reduce((sum, { permits }) => sum + permits, held.permits);
    this.#judge.require(
      'exclusive',
      taken <= held.limit,
      () => `${held.who} and ${others.map(({ who, token }) => `${who} (${token})`).join(', ')} at once`,
    );
  }

  #checkOrder(held: Held): void {
    const { keyspace } = this.#store;
    const rows = keyspace.rows({ key: `${held.queue}/`, end: `${held.queue}0` });
    const ahead = rows.filter(({ key, create }) => {
      const isShared = key.endsWith('~r') || this.#marked.has(key);
      return BigInt(create) < held.token && !(held.shared && isShared);
    });
    const taken = ahead.reduce((sum, { key }) => sum + Number(/~(\d+)of/.exec(key)?.[1] ?? 1), held.permits);
    this.#judge.require(
      'order',
      taken <= held.limit,
      () =>
        `ahead of ${held.who} (${held.token}): ${ahead.map(({ key, create }) => `${key} (${create})`).join(', ')}`,
    );
  }

  #checkTokens(held: Held): void {
    if (held.limit > 1) return;
    const later = this.#held.find(
      (other) => other.token >= held.token && conflict(held, other) && !other.shared,
    );
    this.#judge.require(
      'tokens',
      !later,
      () => `${held.who} has ${held.token} after ${String(later?.token)}`,
    );
  }
}

function conflict(one: Held, other: Held): boolean {
  return one.queue === other.queue && !(one.shared && other.shared);
}
