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
import type { Topic } from './wire/topic.ts';

/** Maps each kind of topic to its snapshot. */
export interface SnapshotOf {
  readonly queues: QueuesSnapshot;
  readonly queue: QueueSnapshot;
  readonly timeline: TimelineSnapshot;
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
export * from './wire/topic.ts';
