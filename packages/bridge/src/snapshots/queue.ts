import type { WatchedQueue } from '../queue/watched-queue.ts';
import type { CandidateSnapshot, ElectionSnapshot, QueueSnapshot, TimelineSnapshot } from '../wire.ts';
import { entrySnapshots, snapshotOf, type Budgets } from './entry.ts';
import { evictionSnapshot } from './eviction.ts';
import { ifDefined } from './if-defined.ts';

/** Makes the snapshot of a queue. */
export function queueSnapshot(queue: WatchedQueue, now: number, budgets: Budgets): QueueSnapshot {
  const { name, state, chronicle } = queue;
  return {
    ...snapshotOf(state, now),
    name,
    entries: entrySnapshots(queue, now, budgets),
    evictions: queue.evictions.map(evictionSnapshot),
    handOffs: chronicle.handOffs,
    ...ifDefined('typicalHoldMs', chronicle.typicalHoldMs),
  };
}

/** Makes the snapshot of a queue's recent history. */
export function timelineSnapshot({ name, state, chronicle }: WatchedQueue, now: number): TimelineSnapshot {
  const { beganAt, spans, gaps } = chronicle;
  return { ...snapshotOf(state, now), name, beganAt, spans, gaps };
}

/** Makes the snapshot of a queue that is used as an election: its leader and its candidates. */
export function electionSnapshot({ name, state, chronicle }: WatchedQueue, now: number): ElectionSnapshot {
  const [leader] = state.entries;
  const candidates = state.entries.map(({ value, key, order, id }): CandidateSnapshot => ({
    value,
    key,
    order: String(order),
    ...ifDefined('id', id),
  }));
  return {
    ...snapshotOf(state, now),
    name,
    candidates,
    ...ifDefined('leaderAt', leader && chronicle.stayOf(leader)?.heldAt),
  };
}
