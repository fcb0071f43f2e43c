import * as v from 'valibot';
import { removalSchema, type Removal } from './error.ts';
import { snapshotEntries, type Snapshot } from './snapshot.ts';

/** An entry as it is named when something is to be done to it. */
export interface EntryRef {
  readonly key: string;
  /** The server's order, decimal. */
  readonly order: string;
  readonly owner: string;
  readonly id?: string;
}

/** One contender. What its client does not tell is left out. */
export interface EntrySnapshot extends EntryRef {
  readonly shared: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  readonly host?: string;
  readonly pid?: number;
  /** When it joined, by the clock of its own machine. */
  readonly since?: number;
  readonly permits: number;
  readonly limit: number;
  /** The ids of the entries that its call chain holds while it waits here. */
  readonly holds: readonly string[];
  /** How long its client has held this name lately. */
  readonly typicalHoldMs?: number;
  /** What it asks of the holder. */
  readonly request?: { readonly reason: string; readonly withinMs: number };
  /** 0: its turn has come (it may not have noticed yet). 1: it is the first of those who wait. And so on. */
  readonly position: number;
  /** Since when the bridge has seen it in the queue. */
  readonly seenAt: number;
  /** Since when the bridge has seen its turn come; earlier if `heldLonger`. */
  readonly heldAt?: number;
  /** It held already when the bridge began to look. */
  readonly heldLonger?: true;
  /** Fencing token, decimal; of those whose turn has come, once it is known. */
  readonly token?: string;
  /** The time left of a hold that was taken through this bridge: it grows again with every heartbeat. */
  readonly remainingMs?: number;
  /** Of the first hundred that wait: how long still, if those ahead hold as long as they announce or as was seen. */
  readonly expectedWaitMs?: number;
}

/** An entry that was removed by somebody else. */
export interface EvictionSnapshot extends Removal {
  readonly entry: EntryRef;
  /** By the clock of who did it. */
  readonly at: number;
}

/** A queue. */
export interface QueueSnapshot extends Snapshot {
  readonly name: string;
  /** In the server's order. */
  readonly entries: readonly EntrySnapshot[];
  /** The latest evictions, the newest last. */
  readonly evictions: readonly EvictionSnapshot[];
  /** How many holds have ended while the bridge looked. */
  readonly handOffs: number;
  /** The median of the holds that the bridge has seen from beginning to end lately. */
  readonly typicalHoldMs?: number;
}

/** A stay in a queue, from joining to leaving, as far as the bridge has seen it. */
export interface Span extends EntryRef {
  readonly shared: boolean;
  /** When it was seen first. */
  readonly joinedAt: number;
  /** It was there already when the bridge began to look, or could look again. */
  readonly joinedEarlier?: true;
  /** When its turn came. */
  readonly heldAt?: number;
  /** Its turn had come already when it was seen first. */
  readonly heldEarlier?: true;
  /** When it was gone. */
  readonly leftAt?: number;
  /** Somebody else removed it. */
  readonly evicted?: Removal;
}

/** The recent past of a queue. The bridge keeps it while somebody looks at the queue, and for a while after. */
export interface TimelineSnapshot extends Snapshot {
  readonly name: string;
  /** When the bridge began to look. */
  readonly beganAt: number;
  /** Those who have left, by the time when they left, then those who are there, in order; the oldest are forgotten, of a long line those at its end. */
  readonly spans: readonly Span[];
  /** When the store could not be seen; without `to` it goes on. */
  readonly gaps: readonly { readonly from: number; readonly to?: number }[];
}

/** A queue in a list. */
export interface ListedQueueSnapshot {
  readonly name: string;
  readonly depth: number;
  /** The order of the first entry, decimal. */
  readonly front: string;
  /** How many entries have left while the list was looked at. */
  readonly left: number;
  /** Since when the bridge has seen this front; earlier if `frontLonger`. */
  readonly frontAt: number;
  /** It was in front already when the bridge began to look. */
  readonly frontLonger?: true;
}

/** A list of queues. */
export interface QueuesSnapshot extends Snapshot {
  readonly prefix: string;
  /** By name; no more than the bridge's limit. */
  readonly queues: readonly ListedQueueSnapshot[];
  /** How many there are in all. */
  readonly count: number;
}

const decimal = v.pipe(v.string(), v.regex(/^-?\d{1,40}$/));
const text = v.string();
const number = v.number();

const refEntries = { key: text, order: decimal, owner: text, id: v.exactOptional(text) };

/** Checks how an entry is named. */
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

/** Checks an eviction. */
export const evictionSchema: v.GenericSchema<EvictionSnapshot> = v.intersect([
  removalSchema,
  v.object({
    entry: entryRefSchema,
    // JSON has numbers that JavaScript has not, which it would tell as nothing.
    at: v.pipe(number, v.finite()),
  }),
]);

/** Checks a queue. */
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

/** Checks a timeline. */
export const timelineSchema: v.GenericSchema<TimelineSnapshot> = v.object({
  ...snapshotEntries,
  name: text,
  beganAt: number,
  spans: v.array(spanSchema),
  gaps: v.array(v.object({ from: number, to: v.exactOptional(number) })),
});

/** Checks a list of queues. */
export const queuesSchema: v.GenericSchema<QueuesSnapshot> = v.object({
  ...snapshotEntries,
  prefix: text,
  queues: v.array(
    v.object({
      name: text,
      depth: number,
      front: decimal,
      left: number,
      frontAt: number,
      frontLonger: v.exactOptional(v.literal(true)),
    }),
  ),
  count: number,
});
