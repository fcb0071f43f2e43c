import * as v from 'valibot';
import { removalSchema, type Removal } from './error.ts';
import { snapshotEntries, type Snapshot } from './snapshot.ts';

/** The properties by which a request or a snapshot refers to an entry. */
export interface EntryRef {
  readonly key: string;
  /** Order number that the server assigned to the entry, as a decimal string. */
  readonly order: string;
  readonly owner: string;
  readonly id?: string;
}

/** An entry of a queue. Properties that the entry's client does not publish are left out. */
export interface EntrySnapshot extends EntryRef {
  readonly shared: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  readonly host?: string;
  readonly pid?: number;
  /** Time at which the entry joined, by the clock of its client's machine. */
  readonly since?: number;
  readonly permits: number;
  readonly limit: number;
  /** Ids of the entries that the same call chain holds while this entry waits. */
  readonly holds: readonly string[];
  /** Usual duration of the holds of this lock by the entry's client, in milliseconds. */
  readonly typicalHoldMs?: number;
  /** The handover request that the entry carries for the holder. */
  readonly request?: { readonly reason: string; readonly withinMs: number };
  /**
   * Position in the queue: 0 for an admitted entry, even if its client has not noticed yet, 1 for the first
   * waiter, and so on.
   */
  readonly position: number;
  /** Time since which the bridge has seen the entry in the queue. */
  readonly seenAt: number;
  /**
   * Time since which the bridge has seen the entry admitted. If `heldLonger` is set, the entry was admitted
   * even earlier.
   */
  readonly heldAt?: number;
  /** Set if the entry was already admitted when the bridge began to watch the queue. */
  readonly heldLonger?: true;
  /** Fencing token of an admitted entry as a decimal string, once it is known. */
  readonly token?: string;
  /** Remaining time of a hold that was taken through this bridge. Each heartbeat extends it. */
  readonly remainingMs?: number;
  /**
   * Estimated wait in milliseconds, for the first hundred waiters only. It assumes that each entry ahead
   * holds for its `typicalHoldMs`, or else as long as recent holds lasted.
   */
  readonly expectedWaitMs?: number;
}

/** An entry that another client removed. */
export interface EvictionSnapshot extends Removal {
  readonly entry: EntryRef;
  /** Time of the eviction by the clock of the client that removed the entry. */
  readonly at: number;
}

/** The snapshot of one queue. */
export interface QueueSnapshot extends Snapshot {
  readonly name: string;
  /** The entries in the order of the queue, the first one first. */
  readonly entries: readonly EntrySnapshot[];
  /** Latest evictions, the newest last. */
  readonly evictions: readonly EvictionSnapshot[];
  /** Number of holds of the lock that have ended while the bridge watched the queue. */
  readonly handOffs: number;
  /** Median duration of the latest holds that the bridge has seen from beginning to end, in milliseconds. */
  readonly typicalHoldMs?: number;
}

/** The stay of an entry in a queue, from joining to leaving, as far as the bridge has seen it. */
export interface Span extends EntryRef {
  readonly shared: boolean;
  /** Time at which the bridge first saw the entry. */
  readonly joinedAt: number;
  /**
   * Set if the entry was already in the queue when the bridge began to watch it, or when the bridge could
   * read the store again.
   */
  readonly joinedEarlier?: true;
  /** Time at which the entry was admitted. */
  readonly heldAt?: number;
  /** Set if the entry was already admitted when the bridge first saw it. */
  readonly heldEarlier?: true;
  /** Time at which the entry was removed. */
  readonly leftAt?: number;
  /** The removal, if another client removed the entry. */
  readonly evicted?: Removal;
}

/** Recent history of a queue. The bridge records it while a page shows the queue, and for a while after. */
export interface TimelineSnapshot extends Snapshot {
  readonly name: string;
  /** Time at which the bridge began to watch the queue. */
  readonly beganAt: number;
  /**
   * Stays of removed entries in the order of their removal, then those of present entries in the order of the
   * queue. The oldest removed entries are left out, and in a long queue the last present ones.
   */
  readonly spans: readonly Span[];
  /** Periods in which the store could not be read. A period without `to` has not ended. */
  readonly gaps: readonly { readonly from: number; readonly to?: number }[];
}

/** A queue in a list of queues. */
export interface ListedQueueSnapshot {
  readonly name: string;
  readonly depth: number;
  /** Order number of the first entry, as a decimal string. */
  readonly front: string;
  /** Number of entries that have left the queue since the bridge began to watch the list. */
  readonly departures: number;
  /**
   * Time since which the bridge has seen the queue's present first entry. If `frontLonger` is set, the entry
   * was the first even earlier.
   */
  readonly frontAt: number;
  /** Set if the queue's first entry was already the first when the bridge began to watch. */
  readonly frontLonger?: true;
}

/** The snapshot of a list of queues. */
export interface QueuesSnapshot extends Snapshot {
  readonly prefix: string;
  /** The queues sorted by name, as many as the bridge's limit allows. */
  readonly queues: readonly ListedQueueSnapshot[];
  /** Number of queues in the list, those beyond the bridge's limit included. */
  readonly count: number;
}

const decimal = v.pipe(v.string(), v.regex(/^-?\d{1,40}$/));
const text = v.string();
const number = v.number();

const refEntries = { key: text, order: decimal, owner: text, id: v.exactOptional(text) };

/** Schema of `EntryRef`. */
export const entryRefSchema: v.GenericSchema<EntryRef> = v.object(refEntries);

const entrySchema: v.GenericSchema<EntrySnapshot> = v.object({
  ...refEntries,
  shared: v.boolean(),
  metadata: v.record(text, text),
  host: v.exactOptional(text),
  pid: v.exactOptional(number),
  since: v.exactOptional(number),
  permits: number,
  limit: number,
  holds: v.array(text),
  typicalHoldMs: v.exactOptional(number),
  request: v.exactOptional(v.object({ reason: text, withinMs: number })),
  position: number,
  seenAt: number,
  heldAt: v.exactOptional(number),
  heldLonger: v.exactOptional(v.literal(true)),
  token: v.exactOptional(decimal),
  remainingMs: v.exactOptional(number),
  expectedWaitMs: v.exactOptional(number),
});

/** Schema of `EvictionSnapshot`. */
export const evictionSchema: v.GenericSchema<EvictionSnapshot> = v.intersect([
  removalSchema,
  v.object({
    entry: entryRefSchema,
    // Numbers such as 1e999 are refused: JavaScript parses them as infinity, which JSON would send on as
    // `null`.
    at: v.pipe(number, v.finite()),
  }),
]);

/** Schema of `QueueSnapshot`. */
export const queueSchema: v.GenericSchema<QueueSnapshot> = v.object({
  ...snapshotEntries,
  name: text,
  entries: v.array(entrySchema),
  evictions: v.array(evictionSchema),
  handOffs: number,
  typicalHoldMs: v.exactOptional(number),
});

const spanSchema: v.GenericSchema<Span> = v.object({
  ...refEntries,
  shared: v.boolean(),
  joinedAt: number,
  joinedEarlier: v.exactOptional(v.literal(true)),
  heldAt: v.exactOptional(number),
  heldEarlier: v.exactOptional(v.literal(true)),
  leftAt: v.exactOptional(number),
  evicted: v.exactOptional(removalSchema),
});

/** Schema of `TimelineSnapshot`. */
export const timelineSchema: v.GenericSchema<TimelineSnapshot> = v.object({
  ...snapshotEntries,
  name: text,
  beganAt: number,
  spans: v.array(spanSchema),
  gaps: v.array(v.object({ from: number, to: v.exactOptional(number) })),
});

/** Schema of `QueuesSnapshot`. */
export const queuesSchema: v.GenericSchema<QueuesSnapshot> = v.object({
  ...snapshotEntries,
  prefix: text,
  queues: v.array(
    v.object({
      name: text,
      depth: number,
      front: decimal,
      departures: number,
      frontAt: number,
      frontLonger: v.exactOptional(v.literal(true)),
    }),
  ),
  count: number,
});
