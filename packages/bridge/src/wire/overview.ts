import * as v from 'valibot';
import { snapshotEntries, type Snapshot } from './snapshot.ts';
import { entryRefSchema, evictionSchema, type EntryRef, type EvictionSnapshot } from './queue.ts';

/** Who stands for a leader. */
export interface CandidateSnapshot {
  /** As stored, also by programs in other languages. */
  readonly value: string;
  readonly key: string;
  /** Decimal. */
  readonly order: string;
  readonly id?: string;
}

/** An election. */
export interface ElectionSnapshot extends Snapshot {
  readonly name: string;
  /** In the order in which they will lead; the first one leads. */
  readonly candidates: readonly CandidateSnapshot[];
  /** Since when the bridge has seen the first one lead. */
  readonly leaderAt?: number;
}

/** An entry of a session. */
export interface SessionEntry extends EntryRef {
  /** The queue. */
  readonly name: string;
  /** As in a queue's snapshot. */
  readonly position: number;
  readonly since?: number;
}

/** The entries of one program, as far as they tell whose they are: of one owner, host and process. */
export interface SessionSnapshot {
  readonly owner: string;
  readonly host?: string;
  readonly pid?: number;
  readonly entries: readonly SessionEntry[];
}

/** How far a look over many queues went. */
export interface Coverage {
  /** Queues that were looked into: the deepest. */
  readonly looked: number;
  /** Queues for which the bridge's limit was too small. */
  readonly left: number;
}

/** Who stands where. */
export interface SessionsSnapshot extends Snapshot, Coverage {
  readonly prefix: string;
  /** Those with most entries first. */
  readonly sessions: readonly SessionSnapshot[];
}

/** A wait of a circle. */
export interface StuckSnapshot {
  /** The queue. */
  readonly name: string;
  readonly entry: EntryRef & { readonly host?: string; readonly pid?: number };
  readonly waitsFor: EntryRef;
}

/** Circles of waits; the first wait of each is the youngest, which should give up. */
export interface DeadlocksSnapshot extends Snapshot, Coverage {
  readonly prefix: string;
  readonly deadlocks: readonly (readonly StuckSnapshot[])[];
}

/** Something that went wrong at some time. */
export interface FaultSnapshot {
  readonly at: number;
  /** `session`: of the bridge itself, in doubt or lost. `store`: it could not be reached, or can be again. */
  readonly kind: 'session' | 'store' | 'eviction';
  /** A queue's name, or the store. */
  readonly about: string;
  readonly text: string;
  /** With `eviction`. */
  readonly eviction?: EvictionSnapshot;
}

/** A fact of the store, as the core's `diagnose` tells it. */
export interface FindingSnapshot {
  readonly level: 'ok' | 'warning' | 'error';
  readonly about: string;
  readonly text: string;
}

/** What is wrong, and what was. */
export interface FaultsSnapshot extends Snapshot {
  readonly prefix: string;
  /** As of `diagnosedAt`; looked at again from time to time. */
  readonly findings: readonly FindingSnapshot[];
  readonly diagnosedAt?: number;
  /** Seen by the bridge, the newest last; the oldest are forgotten. */
  readonly faults: readonly FaultSnapshot[];
}

const text = v.string();
const number = v.number();
const maybe = { host: v.exactOptional(text), pid: v.exactOptional(number) };
const coverage = { looked: number, left: number };

/** Checks an election. */
export const electionSchema: v.GenericSchema<ElectionSnapshot> = v.object({
  ...snapshotEntries,
  name: text,
  candidates: v.array(v.object({ value: text, key: text, order: text, id: v.exactOptional(text) })),
  leaderAt: v.exactOptional(number),
});

const sessionEntrySchema: v.GenericSchema<SessionEntry> = v.intersect([
  entryRefSchema,
  v.object({ name: text, position: number, since: v.exactOptional(number) }),
]);

/** Checks sessions. */
export const sessionsSchema: v.GenericSchema<SessionsSnapshot> = v.object({
  ...snapshotEntries,
  ...coverage,
  prefix: text,
  sessions: v.array(v.object({ owner: text, ...maybe, entries: v.array(sessionEntrySchema) })),
});

const stuckSchema: v.GenericSchema<StuckSnapshot> = v.object({
  name: text,
  entry: v.intersect([entryRefSchema, v.object(maybe)]),
  waitsFor: entryRefSchema,
});

/** Checks deadlocks. */
export const deadlocksSchema: v.GenericSchema<DeadlocksSnapshot> = v.object({
  ...snapshotEntries,
  ...coverage,
  prefix: text,
  deadlocks: v.array(v.array(stuckSchema)),
});

/** Checks faults. */
export const faultsSchema: v.GenericSchema<FaultsSnapshot> = v.object({
  ...snapshotEntries,
  prefix: text,
  findings: v.array(v.object({ level: v.picklist(['ok', 'warning', 'error']), about: text, text })),
  diagnosedAt: v.exactOptional(number),
  faults: v.array(
    v.object({
      at: number,
      kind: v.picklist(['session', 'store', 'eviction']),
      about: text,
      text,
      eviction: v.exactOptional(evictionSchema),
    }),
  ),
});
