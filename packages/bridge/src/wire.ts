// What goes over the wire, and its validators: for both ends, and for clients in other languages.
import type * as v from 'valibot';
import { contendersSchema, type ContendersPicture } from './wire/contenders.ts';
import { joinPictureSchema, type JoinPicture } from './wire/join.ts';
import {
  deadlocksSchema,
  electionSchema,
  faultsSchema,
  sessionsSchema,
  type DeadlocksPicture,
  type ElectionPicture,
  type FaultsPicture,
  type SessionsPicture,
} from './wire/overview.ts';
import {
  queueSchema,
  queuesSchema,
  timelineSchema,
  type QueuePicture,
  type QueuesPicture,
  type TimelinePicture,
} from './wire/queue.ts';
import type { Topic } from './wire/topic.ts';

/** Which picture belongs to which kind of topic. */
export interface PictureOf {
  readonly queues: QueuesPicture;
  readonly queue: QueuePicture;
  readonly timeline: TimelinePicture;
  readonly election: ElectionPicture;
  readonly sessions: SessionsPicture;
  readonly deadlocks: DeadlocksPicture;
  readonly faults: FaultsPicture;
  readonly contenders: ContendersPicture;
  readonly join: JoinPicture;
}

/** Checks pictures, by the kind of their topic. */
export const pictureSchemas: { readonly [K in Topic['kind']]: v.GenericSchema<PictureOf[K]> } = {
  queues: queuesSchema,
  queue: queueSchema,
  timeline: timelineSchema,
  election: electionSchema,
  sessions: sessionsSchema,
  deadlocks: deadlocksSchema,
  faults: faultsSchema,
  contenders: contendersSchema,
  join: joinPictureSchema,
};

export * from './wire/call.ts';
export * from './wire/contenders.ts';
export * from './wire/error.ts';
export type { WireHandoverRequest } from './wire/handover.ts';
export * from './wire/join.ts';
export * from './wire/overview.ts';
export type { Picture } from './wire/picture.ts';
export * from './wire/queue.ts';
export * from './wire/topic.ts';
