// The messages on the wire and their validators, for the bridge, its client, and clients in other languages.
import type * as v from 'valibot';
import { contendersSchema, type ContendersSnapshot } from './wire/contenders.ts';
import { joinSnapshotSchema, type JoinSnapshot } from './wire/join.ts';
import {
  deadlocksSchema,
  electionSchema,
  faultsSchema,
  sessionsSchema,
  type DeadlocksSnapshot,
  type ElectionSnapshot,
  type FaultsSnapshot,
  type SessionsSnapshot,
} from './wire/overview.ts';
import {
  queueSchema,
  queuesSchema,
  timelineSchema,
  type QueueSnapshot,
  type QueuesSnapshot,
  type TimelineSnapshot,
} from './wire/queue.ts';
import { recordSchema, type RecordSnapshot } from './wire/record.ts';
import type { Topic } from './wire/topic.ts';

/** For each kind of topic, the type of its snapshots. */
export interface SnapshotOf {
  readonly queues: QueuesSnapshot;
  readonly queue: QueueSnapshot;
  readonly timeline: TimelineSnapshot;
  readonly record: RecordSnapshot;
  readonly election: ElectionSnapshot;
  readonly sessions: SessionsSnapshot;
  readonly deadlocks: DeadlocksSnapshot;
  readonly faults: FaultsSnapshot;
  readonly contenders: ContendersSnapshot;
  readonly join: JoinSnapshot;
}

/** Schemas of snapshots, by the kind of their topic. */
export const snapshotSchemas: { readonly [K in Topic['kind']]: v.GenericSchema<SnapshotOf[K]> } = {
  queues: queuesSchema,
  queue: queueSchema,
  timeline: timelineSchema,
  record: recordSchema,
  election: electionSchema,
  sessions: sessionsSchema,
  deadlocks: deadlocksSchema,
  faults: faultsSchema,
  contenders: contendersSchema,
  join: joinSnapshotSchema,
};

export * from './wire/call.ts';
export * from './wire/contenders.ts';
export * from './wire/error.ts';
export type { WireHandoverRequest } from './wire/handover.ts';
export * from './wire/join.ts';
export * from './wire/overview.ts';
export type { Snapshot } from './wire/snapshot.ts';
export * from './wire/queue.ts';
export * from './wire/record.ts';
export * from './wire/topic.ts';
