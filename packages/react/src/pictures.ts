import type { Seen } from '@queuelock/bridge/client';
import type {
  CandidatePicture,
  ContendersPicture,
  DeadlocksPicture,
  ElectionPicture,
  FaultsPicture,
  QueuePicture,
  QueuesPicture,
  SessionsPicture,
  TimelinePicture,
} from '@queuelock/bridge/wire';
import { useMemo } from 'react';
import { useSeen } from './use-seen.ts';

/** A queue: who holds, who waits, in order. However many components look at it, the page has one stream of it. */
export function useQueue(name: string): Seen<QueuePicture> {
  return useSeen('queue', name);
}

/** The queues whose names begin with `prefix`; default: all. */
export function useQueues(prefix = ''): Seen<QueuesPicture> {
  return useSeen('queues', prefix);
}

/** The recent past of a queue: who joined, held and left, as far as the bridge has seen it. */
export function useTimeline(name: string): Seen<TimelinePicture> {
  return useSeen('timeline', name);
}

/** The entries of many queues, by the program that made them. */
export function useSessions(prefix = ''): Seen<SessionsPicture> {
  return useSeen('sessions', prefix);
}

/** Who waits in a circle. */
export function useDeadlocks(prefix = ''): Seen<DeadlocksPicture> {
  return useSeen('deadlocks', prefix);
}

/** What is wrong in the store, and what has gone wrong while the bridge looked. */
export function useFaults(prefix = ''): Seen<FaultsPicture> {
  return useSeen('faults', prefix);
}

/** Programs that this page may disturb, where the bridge has some; `name` is that of their queue. */
export function useContenders(name: string): Seen<ContendersPicture> {
  return useSeen('contenders', name);
}

/** An election, with who leads. */
export type LeaderView = Seen<ElectionPicture> & {
  /** Who leads, as far as is known; `undefined`: nobody, or nothing was heard yet (then `picture` is `undefined` too). */
  readonly leader: CandidatePicture | undefined;
};

/** Who leads an election of `@queuelock/recipes`, and who stands. */
export function useLeader(name: string): LeaderView {
  const seen = useSeen('election', name);
  return useMemo(() => ({ ...seen, leader: seen.picture?.candidates[0] }), [seen]);
}
