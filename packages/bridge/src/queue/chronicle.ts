import { admittedEntries, type Eviction, type QueueEntry, type QueueState } from '@queuelock/core';
import type { Span } from '../wire.ts';

const MAX_SPANS = 200;
const SHOWN_PRESENT = 100;
const MAX_GAPS = 20;
const MAX_HOLDS = 9;

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Stay = Writable<Span>;

/** A period in which the store could not be read. */
export interface Gap {
  readonly from: number;
  readonly to?: number;
}

/**
 * History of a queue as one observer has seen it: joins, grants and departures, with the times when the
 * observer saw them. Only the latest part is kept. An entry that joined and left between two snapshots is
 * missed.
 */
export class Chronicle {
  readonly beganAt: number;
  /** The stays of the present entries, by a text that identifies the entry. */
  #present: ReadonlyMap<string, Stay> = new Map();
  readonly #past: Stay[] = [];
  readonly #gaps: Writable<Gap>[] = [];
  readonly #holds: number[] = [];
  #handOffs = 0;
  /**
   * Whether the latest state of the queue was read from the store. While the store cannot be reached, the
   * client emits the last known state. The times of changes until the next read are unknown.
   */
  #isContinuous = false;

  constructor(beganAt: number) {
    this.beganAt = beganAt;
  }

  record({ status, entries }: QueueState, now: number): void {
    if (status === 'live') this.#take(entries, now);
    else if (this.#isContinuous) this.#gaps.push({ from: now });
    if (this.#gaps.length > MAX_GAPS) this.#gaps.shift();
    this.#isContinuous = status === 'live';
  }

  /**
   * Adds the record of each eviction to the stay that it ended. A record may arrive before or after the
   * departure.
   */
  explain(evictions: readonly Eviction[]): void {
    for (const { entry, kind, by, reason } of evictions) {
      const stay = this.#past.findLast((past) => nameOf(past) === nameOf(entry));
      if (stay) stay.evicted ??= { kind, by, reason };
    }
  }

  stayOf(entry: Pick<QueueEntry, 'key' | 'order'>): Span | undefined {
    return this.#present.get(nameOf(entry));
  }

  /** The stays of removed entries, then those of the first present entries in the order of the queue. */
  get spans(): readonly Span[] {
    return [...this.#past, ...[...this.#present.values()].slice(0, SHOWN_PRESENT)];
  }

  get gaps(): readonly Gap[] {
    return this.#gaps;
  }

  /** Number of holds that the bridge has seen end. */
  get handOffs(): number {
    return this.#handOffs;
  }

  /** Median duration of the last nine holds that were seen from beginning to end, in milliseconds. */
  get typicalHoldMs(): number | undefined {
    return [...this.#holds].sort((a, b) => a - b)[Math.floor(this.#holds.length / 2)];
  }

  #take(entries: readonly QueueEntry[], now: number): void {
    const gap = this.#gaps.at(-1);
    if (gap) gap.to ??= now;
    const admitted = admittedEntries(entries);
    const present = entries.map((entry): [string, Stay] => {
      const stay = this.#present.get(nameOf(entry)) ?? this.#begun(entry, now);
      if (admitted.has(entry)) this.#hold(stay, now);
      return [nameOf(entry), stay];
    });
    const before = this.#present;
    this.#present = new Map(present);
    for (const [name, stay] of before) if (!this.#present.has(name)) this.#end(stay, now);
  }

  #begun({ key, order, owner, id, shared }: QueueEntry, now: number): Stay {
    return {
      key,
      order: String(order),
      owner,
      ...(id === undefined ? {} : { id }),
      shared,
      joinedAt: now,
      ...(this.#isContinuous ? {} : { joinedEarlier: true as const }),
    };
  }

  #hold(stay: Stay, now: number): void {
    if (stay.heldAt !== undefined) return;
    stay.heldAt = now;
    if (!this.#isContinuous) stay.heldEarlier = true;
  }

  #end(stay: Stay, now: number): void {
    stay.leftAt = now;
    this.#past.push(stay);
    if (this.#past.length > MAX_SPANS) this.#past.shift();
    if (stay.heldAt === undefined) return;
    this.#handOffs += 1;
    if (stay.heldEarlier || !this.#isContinuous) return;
    this.#holds.push(now - stay.heldAt);
    if (this.#holds.length > MAX_HOLDS) this.#holds.shift();
  }
}

/**
 * Returns a text that identifies an entry. It includes the order number, because a store may give the key of
 * a removed entry to a new one.
 */
export function nameOf({ key, order }: { readonly key: string; readonly order: bigint | string }): string {
  return `${String(order)} ${key}`;
}
