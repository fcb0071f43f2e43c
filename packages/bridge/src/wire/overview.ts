import * as v from 'valibot';
import { snapshotEntries, type Snapshot } from './snapshot.ts';
import { entryRefSchema, evictionSchema, type EntryRef, type EvictionSnapshot } from './queue.ts';

/** A candidate of an election. */
export interface CandidateSnapshot {
  /** Value of the candidate as stored. Programs in other languages may have stored it. */
  readonly value: string;
  readonly key: string;
  /** Order number of the entry, as a decimal string. */
  readonly order: string;
  readonly id?: string;
}

/** The snapshot of an election. */
export interface ElectionSnapshot extends Snapshot {
  readonly name: string;
  /** Candidates in the order in which they will lead; the first is the leader. */
  readonly candidates: readonly CandidateSnapshot[];
  /** Time since which the bridge has seen the first candidate lead. */
  readonly leaderAt?: number;
}

/** An entry of a program, in the snapshot of the topic `sessions`. */
export interface SessionEntry extends EntryRef {
  /** Name of the queue that has the entry. */
  readonly name: string;
  /** Position of the entry as in the snapshot of its queue. */
  readonly position: number;
  readonly since?: number;
}

/**
 * The entries of one program, which is identified by owner, host, process and instance, as far as the entries
 * state these.
 */
export interface SessionSnapshot {
  readonly owner: string;
  readonly host?: string;
  readonly pid?: number;
  /** Random text that identifies the process, since two containers may have the same host name and process id. */
  readonly instance?: string;
  readonly entries: readonly SessionEntry[];
}

/** How many queues an overview covers, and how many it leaves out. */
export interface Coverage {
  /** Number of queues that were read. They are the ones with the most entries. */
  readonly included: number;
  /** Number of queues that were left out because of the bridge's limit. */
  readonly omitted: number;
}

/**
 * The snapshot of the topic `sessions`: the entries of many queues, grouped by the program that made them.
 */
export interface SessionsSnapshot extends Snapshot, Coverage {
  readonly prefix: string;
  /** All programs that have entries, those with the most entries first. */
  readonly sessions: readonly SessionSnapshot[];
}

/** One link of a deadlock: an entry that waits, and the entry that it waits for. */
export interface StuckSnapshot {
  /** Name of the queue in which the entry waits. */
  readonly name: string;
  readonly entry: EntryRef & { readonly host?: string; readonly pid?: number };
  readonly waitsFor: EntryRef;
}

/**
 * The snapshot of the topic `deadlocks`. Each deadlock begins with the wait of its youngest entry, whose
 * client should give up to resolve the deadlock.
 */
export interface DeadlocksSnapshot extends Snapshot, Coverage {
  readonly prefix: string;
  readonly deadlocks: readonly (readonly StuckSnapshot[])[];
}

/** A failure or eviction that the bridge has seen, with its time. */
export interface FaultSnapshot {
  readonly at: number;
  /**
   * Kind of the fault. `session`: the bridge's own session became suspect or was lost. `store`: a queue could
   * not be read from the store. `eviction`: an entry was evicted.
   */
  readonly kind: 'session' | 'store' | 'eviction';
  /** Name of the queue, or `bridge` for the bridge's own session. */
  readonly about: string;
  readonly text: string;
  /** The eviction of an entry, if that is the fault (kind `eviction`). */
  readonly eviction?: EvictionSnapshot;
}

/** A finding about the store, as the core's `diagnose` returns it. */
export interface FindingSnapshot {
  readonly level: 'ok' | 'warning' | 'error';
  readonly about: string;
  readonly text: string;
}

/**
 * The snapshot of the topic `faults`: findings of the latest diagnosis of the store, and failures that the
 * bridge has seen.
 */
export interface FaultsSnapshot extends Snapshot {
  readonly prefix: string;
  /** Findings as of `diagnosedAt`; the diagnosis is repeated at intervals. */
  readonly findings: readonly FindingSnapshot[];
  readonly diagnosedAt?: number;
  /** Failures that the bridge has seen, the newest last. The oldest are dropped. */
  readonly faults: readonly FaultSnapshot[];
}

const text = v.string();
const number = v.number();
const maybe = { host: v.exactOptional(text), pid: v.exactOptional(number) };
const coverage = { included: number, omitted: number };

/** Schema of `ElectionSnapshot`. */
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

/** Schema of `SessionsSnapshot`. */
export const sessionsSchema: v.GenericSchema<SessionsSnapshot> = v.object({
  ...snapshotEntries,
  ...coverage,
  prefix: text,
  sessions: v.array(
    v.object({
      owner: text,
      ...maybe,
      instance: v.exactOptional(text),
      entries: v.array(sessionEntrySchema),
    }),
  ),
});

const stuckSchema: v.GenericSchema<StuckSnapshot> = v.object({
  name: text,
  entry: v.intersect([entryRefSchema, v.object(maybe)]),
  waitsFor: entryRefSchema,
});

/** Schema of `DeadlocksSnapshot`. */
export const deadlocksSchema: v.GenericSchema<DeadlocksSnapshot> = v.object({
  ...snapshotEntries,
  ...coverage,
  prefix: text,
  deadlocks: v.array(v.array(stuckSchema)),
});

/** Schema of `FaultsSnapshot`. */
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
