import type { ListedQueue } from '@queuelock/core/backend';
import type { IEvent, IKeyValue } from '../protocol/messages.ts';
import { isNamedAfterLease, placeOf } from './keys.ts';

/** A key without its value. */
export type ListedKey = Pick<IKeyValue, 'key' | 'create_revision' | 'mod_revision' | 'lease'>;

interface Child {
  readonly order: bigint;
  /** Whether the key is named after its lease, as every client names its entries. */
  readonly isEntry: boolean;
}

interface Line {
  // In the order of creation once the list is complete, since a new key is the last.
  readonly children: Map<string, Child>;
  entries: number;
  left: number;
  emptyAt: number | undefined;
}

// Long enough for a client that reads the count now and then, short enough for names that are used once.
const EMPTY_FOR_MS = 60_000;

/** The queues of a store: listed once, and then updated by events. */
export class QueueLines {
  readonly #prefix: string;
  readonly #now: () => number;
  readonly #listsForeign: boolean;
  #lines = new Map<string, Line>();

  /**
   * @param now returns a time in milliseconds; only differences count
   * @param listsForeign whether a directory in which no key is an entry counts as a queue, since a lock of its name would wait for its keys
   */
  constructor(prefix: string, now: () => number, listsForeign: boolean) {
    this.#prefix = prefix;
    this.#now = now;
    this.#listsForeign = listsForeign;
  }

  /** Replaces the state by a list of all keys, in any order. */
  list(keys: readonly ListedKey[]): void {
    this.#lines = new Map();
    const byAge = [...keys].sort((a, b) => Number(BigInt(a.create_revision) - BigInt(b.create_revision)));
    for (const key of byAge) this.#put(key);
  }

  /** Applies the events after the revision of the list. */
  apply(events: readonly IEvent[], after: bigint): void {
    for (const { type, kv } of events) {
      if (BigInt(kv.mod_revision) <= after) continue;
      if (type === 'Put') this.#put(kv);
      else this.#delete(kv);
    }
  }

  /** Returns the queues that are not empty. */
  queues(): readonly ListedQueue[] {
    const listed: ListedQueue[] = [];
    for (const [name, line] of this.#lines) {
      const { children, entries, left } = line;
      const [front] = children.values();
      const foreign = children.size - entries;
      if (front && (entries > 0 || this.#listsForeign)) {
        const queue = { name, depth: children.size, front: front.order, left };
        listed.push(foreign === 0 ? queue : { ...queue, foreign });
      } else if (this.#isForgotten(line)) this.#lines.delete(name);
    }
    return listed;
  }

  #put(key: ListedKey): void {
    const place = placeOf(this.#prefix, key.key);
    if (!place) return;
    const line = this.#lines.get(place.queue) ?? emptyLine();
    const order = BigInt(key.create_revision);
    const known = line.children.get(place.child);
    if (known?.order === order) return;
    // The key was created again: the event of its deletion was lost.
    if (known) this.#delete(key);
    const isEntry = isNamedAfterLease(place.child, key.lease);
    line.children.set(place.child, { order, isEntry });
    line.entries += Number(isEntry);
    line.emptyAt = undefined;
    this.#lines.set(place.queue, line);
  }

  #delete({ key }: Pick<ListedKey, 'key'>): void {
    const place = placeOf(this.#prefix, key);
    const line = place && this.#lines.get(place.queue);
    const child = line?.children.get(place?.child ?? '');
    if (!place || !line || !child) return;
    line.children.delete(place.child);
    line.entries -= Number(child.isEntry);
    line.left += 1;
    if (line.children.size === 0) line.emptyAt = this.#now();
  }

  #isForgotten({ children, emptyAt }: Line): boolean {
    return children.size === 0 && emptyAt !== undefined && this.#now() - emptyAt > EMPTY_FOR_MS;
  }
}

function emptyLine(): Line {
  return { children: new Map(), entries: 0, left: 0, emptyAt: undefined };
}
