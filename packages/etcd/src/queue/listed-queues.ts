import type { ListedQueue } from '@queuelock/core/backend';
import type { IEvent, IKeyValue } from '../protocol/messages.ts';
import { isNamedAfterLease, locationOf } from './keys.ts';

/** A key of the store without its value. */
export type ListedKey = Pick<IKeyValue, 'key' | 'create_revision' | 'mod_revision' | 'lease'>;

interface Child {
  readonly order: bigint;
  /**
   * Whether the key's name begins with its lease. Clients that use queues, such as queuelock and Go's, name
   * their entries so.
   */
  readonly isEntry: boolean;
}

interface QueueState {
  // The keys of the queue in the order of their creation. A complete list of keys is added in that order, and the key of each new entry at the end.
  readonly children: Map<string, Child>;
  entries: number;
  left: number;
  emptyAt: number | undefined;
}

// How long the departure count of an empty queue is kept, in milliseconds. A client that reads the count at least once a minute still finds it, and
// names that are used only once do not fill the memory.
const EMPTY_FOR_MS = 60_000;

/** All queues of a store. They are read once, and then updated by watch events. */
export class ListedQueues {
  readonly #prefix: string;
  readonly #now: () => number;
  readonly #listsForeign: boolean;
  #queues = new Map<string, QueueState>();

  /**
   * @param now returns a time in milliseconds; only differences between times are used
   * @param listsForeign whether to list a directory that contains keys of other programs only, since a lock of that name would wait for
   * those keys
   */
  constructor(prefix: string, now: () => number, listsForeign: boolean) {
    this.#prefix = prefix;
    this.#now = now;
    this.#listsForeign = listsForeign;
  }

  /** Replaces all queues by those in a complete list of the store's keys. The list may have any order. */
  list(keys: readonly ListedKey[]): void {
    this.#queues = new Map();
    const byAge = [...keys].sort((a, b) => Number(BigInt(a.create_revision) - BigInt(b.create_revision)));
    for (const key of byAge) this.#put(key);
  }

  /** Applies watch events to the queues. Ignores events up to the revision `after`, since the list of keys already contains their changes. */
  apply(events: readonly IEvent[], after: bigint): void {
    for (const { type, kv } of events) {
      if (BigInt(kv.mod_revision) <= after) continue;
      if (type === 'Put') this.#put(kv);
      else this.#delete(kv);
    }
  }

  /** Returns the queues of the store that are not empty. */
  queues(): readonly ListedQueue[] {
    const listed: ListedQueue[] = [];
    for (const [name, state] of this.#queues) {
      const { children, entries, left } = state;
      const [front] = children.values();
      const foreign = children.size - entries;
      if (front && (entries > 0 || this.#listsForeign)) {
        const queue = { name, depth: children.size, front: front.order, left };
        listed.push(foreign === 0 ? queue : { ...queue, foreign });
      } else if (this.#isForgotten(state)) this.#queues.delete(name);
    }
    return listed;
  }

  #put(key: ListedKey): void {
    const location = locationOf(this.#prefix, key.key);
    if (!location) return;
    const state = this.#queues.get(location.queue) ?? emptyQueue();
    const order = BigInt(key.create_revision);
    const known = state.children.get(location.child);
    if (known?.order === order) return;
    // The watch may report a new creation of a known key without its earlier deletion. The deletion is then applied here.
    if (known) this.#delete(key);
    const isEntry = isNamedAfterLease(location.child, key.lease);
    state.children.set(location.child, { order, isEntry });
    state.entries += Number(isEntry);
    state.emptyAt = undefined;
    this.#queues.set(location.queue, state);
  }

  #delete({ key }: Pick<ListedKey, 'key'>): void {
    const location = locationOf(this.#prefix, key);
    const state = location && this.#queues.get(location.queue);
    const child = state?.children.get(location?.child ?? '');
    if (!location || !state || !child) return;
    state.children.delete(location.child);
    state.entries -= Number(child.isEntry);
    state.left += 1;
    if (state.children.size === 0) state.emptyAt = this.#now();
  }

  #isForgotten({ children, emptyAt }: QueueState): boolean {
    return children.size === 0 && emptyAt !== undefined && this.#now() - emptyAt > EMPTY_FOR_MS;
  }
}

function emptyQueue(): QueueState {
  return { children: new Map(), entries: 0, left: 0, emptyAt: undefined };
}
