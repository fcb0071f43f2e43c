import type { EntrySpec } from '@queuelock/core/backend';
import type { NodePosition } from '../entry/enqueue.ts';
import type { OwnEntry } from '../entry/entry.ts';

/** One entry of a call that enqueues entries in several queues. */
export interface EntryRequest {
  readonly entry: OwnEntry;
  readonly spec: EntrySpec;
}

/** An entry that is in its queue, with its position. */
export interface MemberPosition {
  readonly member: EntryRequest;
  readonly position: NodePosition;
}
