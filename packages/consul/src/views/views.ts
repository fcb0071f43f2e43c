// Folder "views": reads queues, registers and servers for observers and operators.
// views.ts (this file) reads entries in order and lists queues. changes.ts reads again after each change. registers.ts reads and writes
// small texts. diagnose.ts checks the cluster. evict.ts removes an entry of any session.

import type { Clock, ListedQueue, StoredEntry, StoredHistory } from '@queuelock/core/backend';
import { map, type Observable } from '../base/rx.ts';
import type { KvPair } from '../driver/responses.ts';
import { contenderOf, contendersIn, storedEntry, type Contender } from '../queue/entries.ts';
import type { Keys } from '../queue/keys.ts';
import type { Connection } from '../server/connection.ts';
import { changesOf } from './changes.ts';

/** The objects that observers need to read the store. */
export interface ViewTools {
  readonly connection: Connection;
  readonly keys: Keys;
  readonly clock: Clock;
}

const LIST_PAUSE_MS = 1_000;
const REMEMBERED_MS = 60_000;

/** Emits the entries of a queue in order, now and after every change. */
export function observeQueue(
  { connection, keys, clock }: ViewTools,
  queue: string,
  pauseMs: number,
): Observable<readonly StoredEntry[]> {
  const followed = { key: keys.queue(queue), isTree: true, pauseMs };
  return changesOf(connection, clock, followed).pipe(
    map(({ pairs }) => contendersIn(pairs).map(storedEntry)),
  );
}

/** Emits the queues whose names begin with a prefix: now, and after changes at most once a second. */
export function observeQueues(
  { connection, keys, clock }: ViewTools,
  prefix: string,
): Observable<readonly ListedQueue[]> {
  const departures = new Departures(clock);
  const followed = { key: keys.queuesFrom(prefix), isTree: true, pauseMs: LIST_PAUSE_MS };
  return changesOf(connection, clock, followed).pipe(
    map(({ pairs }) => departures.listed(queuesIn(keys, pairs))),
  );
}

/** Groups the entries by the names of their queues. */
export function queuesIn(keys: Keys, pairs: readonly KvPair[]): ReadonlyMap<string, readonly Contender[]> {
  const queues = new Map<string, Contender[]>();
  for (const pair of pairs) {
    const place = keys.entryIn(pair.key);
    if (!place) continue;
    const entries = queues.get(place.queue) ?? [];
    entries.push(contenderOf(pair));
    queues.set(place.queue, entries);
  }
  return queues;
}

/** Returns a history that contains only the joins of the present entries. Consul stores nothing about entries that have left. */
export function historyOf(entries: readonly StoredEntry[]): StoredHistory {
  return {
    before: [],
    changes: entries.map((entry) => ({ revision: entry.order, kind: 'joined', entry })),
    gaps: ['Consul keeps no history: only the present entries are known.'],
  };
}

interface Known {
  readonly orders: ReadonlySet<string>;
  readonly left: number;
  readonly seenAt: number;
}

/**
 * Counts the entries that have left their queues between reads. Forgets a queue that has been empty for a
 * minute.
 */
class Departures {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  listed(queues: ReadonlyMap<string, readonly Contender[]>): readonly ListedQueue[] {
    const seenAt = this.#clock.now();
    for (const name of this.#known.keys()) if (!queues.has(name)) this.#note(name, [], seenAt);
    const listed = [...queues].map(([name, entries]): ListedQueue => {
      const left = this.#note(name, entries, seenAt);
      const orders = entries.map(({ order }) => order);
      const front = orders.reduce((first, order) => (order < first ? order : first));
      const foreign = entries.filter(({ isForeign }) => isForeign).length;
      return { name, depth: entries.length, front, left, ...(foreign > 0 && { foreign }) };
    });
    return listed;
  }

  #note(name: string, entries: readonly Contender[], seenAt: number): number {
    const before = this.#known.get(name);
    const orders = new Set(entries.map(({ key }) => key));
    const gone = [...(before?.orders ?? [])].filter((key) => !orders.has(key)).length;
    const left = (before?.left ?? 0) + gone;
    const isOld = orders.size === 0 && gone === 0 && before && seenAt - before.seenAt > REMEMBERED_MS;
    if (isOld) this.#known.delete(name);
    else
      this.#known.set(name, {
        orders,
        left,
        seenAt: orders.size === 0 && gone === 0 && before ? before.seenAt : seenAt,
      });
    return left;
  }
}
