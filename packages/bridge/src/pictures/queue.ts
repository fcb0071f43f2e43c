import type { WatchedQueue } from '../queue/watched-queue.ts';
import type { CandidatePicture, ElectionPicture, QueuePicture, TimelinePicture } from '../wire.ts';
import { entryPictures, evictionPicture, pictureOf, type Budgets } from './entry.ts';
import { given } from './given.ts';

/** A queue as it is now. */
export function queuePicture(queue: WatchedQueue, now: number, budgets: Budgets): QueuePicture {
  const { name, state, chronicle } = queue;
  return {
    ...pictureOf(state, now),
    name,
    entries: entryPictures(queue, now, budgets),
    evictions: queue.evictions.map(evictionPicture),
    handOffs: chronicle.handOffs,
    ...given('typicalHoldMs', chronicle.typicalHoldMs),
  };
}

/** Its recent past. */
export function timelinePicture({ name, state, chronicle }: WatchedQueue, now: number): TimelinePicture {
  const { beganAt, spans, gaps } = chronicle;
  return { ...pictureOf(state, now), name, beganAt, spans, gaps };
}

/** As an election. */
export function electionPicture({ name, state, chronicle }: WatchedQueue, now: number): ElectionPicture {
  const [leader] = state.entries;
  const candidates = state.entries.map(({ value, key, order, id }): CandidatePicture => ({
    value,
    key,
    order: String(order),
    ...given('id', id),
  }));
  return {
    ...pictureOf(state, now),
    name,
    candidates,
    ...given('leaderAt', leader && chronicle.stayOf(leader)?.heldAt),
  };
}
