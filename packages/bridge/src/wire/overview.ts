import * as v from 'valibot';
import { pictureEntries, type Picture } from './picture.ts';
import { entryRefSchema, evictionSchema, type EntryRef, type EvictionPicture } from './queue.ts';

/** Who stands for a leader. */
export interface CandidatePicture {
  /** As stored, also by programs in other languages. */
  readonly value: string;
  readonly key: string;
  /** Decimal. */
  readonly order: string;
  readonly id?: string;
}

/** An election. */
export interface ElectionPicture extends Picture {
  readonly name: string;
  /** In the order in which they will lead; the first one leads. */
  readonly candidates: readonly CandidatePicture[];
  /** Since when the bridge has seen the first one lead. */
  readonly leaderAt?: number;
}

/** An entry of a session. */
export interface SessionEntry extends EntryRef {
  /** The queue. */
  readonly name: string;
  /** As in a queue's picture. */
  readonly position: number;
  readonly since?: number;
}

/** The entries of one program, as far as they tell whose they are: of one owner, host and process. */
export interface SessionPicture {
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
export interface SessionsPicture extends Picture, Coverage {
  readonly prefix: string;
  /** Those with most entries first. */
  readonly sessions: readonly SessionPicture[];
}

/** A wait of a circle. */
export interface StuckPicture {
  /** The queue. */
  readonly name: string;
  readonly entry: EntryRef & { readonly host?: string; readonly pid?: number };
  readonly waitsFor: EntryRef;
}

/** Circles of waits; the first wait of each is the youngest, which should give up. */
export interface DeadlocksPicture extends Picture, Coverage {
  readonly prefix: string;
  readonly deadlocks: readonly (readonly StuckPicture[])[];
}

/** Something that went wrong at some time. */
export interface FaultPicture {
  readonly at: number;
  /** `session`: of the bridge itself, in doubt or lost. `store`: it could not be reached, or can be again. */
  readonly kind: 'session' | 'store' | 'eviction';
  /** A queue's name, or the store. */
  readonly about: string;
  readonly text: string;
  /** With `eviction`. */
  readonly eviction?: EvictionPicture;
}

/** A fact of the store, as the core's `examine` tells it. */
export interface FindingPicture {
  readonly level: 'fine' | 'advice' | 'problem';
  readonly about: string;
  readonly text: string;
}

/** What is wrong, and what was. */
export interface FaultsPicture extends Picture {
  readonly prefix: string;
  /** As of `examinedAt`; looked at again from time to time. */
  readonly findings: readonly FindingPicture[];
  readonly examinedAt?: number;
  /** Seen by the bridge, the newest last; the oldest are forgotten. */
  readonly faults: readonly FaultPicture[];
}

const text = v.string();
const number = v.number();
const maybe = { host: v.exactOptional(text), pid: v.exactOptional(number) };
const coverage = { looked: number, left: number };

/** Checks an election. */
export const electionSchema: v.GenericSchema<ElectionPicture> = v.object({
  ...pictureEntries,
  name: text,
  candidates: v.array(v.object({ value: text, key: text, order: text, id: v.exactOptional(text) })),
  leaderAt: v.exactOptional(number),
});

const sessionEntrySchema: v.GenericSchema<SessionEntry> = v.intersect([
  entryRefSchema,
  v.object({ name: text, position: number, since: v.exactOptional(number) }),
]);

/** Checks sessions. */
export const sessionsSchema: v.GenericSchema<SessionsPicture> = v.object({
  ...pictureEntries,
  ...coverage,
  prefix: text,
  sessions: v.array(v.object({ owner: text, ...maybe, entries: v.array(sessionEntrySchema) })),
});

const stuckSchema: v.GenericSchema<StuckPicture> = v.object({
  name: text,
  entry: v.intersect([entryRefSchema, v.object(maybe)]),
  waitsFor: entryRefSchema,
});

/** Checks deadlocks. */
export const deadlocksSchema: v.GenericSchema<DeadlocksPicture> = v.object({
  ...pictureEntries,
  ...coverage,
  prefix: text,
  deadlocks: v.array(v.array(stuckSchema)),
});

/** Checks faults. */
export const faultsSchema: v.GenericSchema<FaultsPicture> = v.object({
  ...pictureEntries,
  prefix: text,
  findings: v.array(v.object({ level: v.picklist(['fine', 'advice', 'problem']), about: text, text })),
  examinedAt: v.exactOptional(number),
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
