import type { Observed } from '@queuelock/bridge/client';
import type {
  CandidateSnapshot,
  ContendersSnapshot,
  DeadlocksSnapshot,
  ElectionSnapshot,
  FaultsSnapshot,
  QueueSnapshot,
  QueuesSnapshot,
  SessionsSnapshot,
  TimelineSnapshot,
} from '@queuelock/bridge/wire';
import { useMemo } from 'react';
import { useObserved } from './use-observed.ts';

/** A queue: who holds, who waits, in order. However many components look at it, the page has one stream of it. */
export function useQueue(name: string): Observed<QueueSnapshot> {
  return useObserved('queue', name);
}

/** The queues whose names begin with `prefix`; default: all. */
export function useQueues(prefix = ''): Observed<QueuesSnapshot> {
  return useObserved('queues', prefix);
}

/** The recent past of a queue: who joined, held and left, as far as the bridge has seen it. */
export function useTimeline(name: string): Observed<TimelineSnapshot> {
  return useObserved('timeline', name);
}

/** The entries of many queues, by the program that made them. */
export function useSessions(prefix = ''): Observed<SessionsSnapshot> {
  return useObserved('sessions', prefix);
}

/** Who waits in a circle. */
export function useDeadlocks(prefix = ''): Observed<DeadlocksSnapshot> {
  return useObserved('deadlocks', prefix);
}

/** What is wrong in the store, and what has gone wrong while the bridge looked. */
export function useFaults(prefix = ''): Observed<FaultsSnapshot> {
  return useObserved('faults', prefix);
}

/** Programs that this page may disturb, where the bridge has some; `name` is that of their queue. */
export function useContenders(name: string): Observed<ContendersSnapshot> {
  return useObserved('contenders', name);
}

/** An election, with who leads. */
export type LeaderView = Observed<ElectionSnapshot> & {
  /** Who leads, as far as is known; `undefined`: nobody, or nothing was heard yet (then `snapshot` is `undefined` too). */
  readonly leader: CandidateSnapshot | undefined;
};

/** Who leads an election of `@queuelock/recipes`, and who stands. */
export function useLeader(name: string): LeaderView {
  const seen = useObserved('election', name);
  return useMemo(() => ({ ...seen, leader: seen.snapshot?.candidates[0] }), [seen]);
}
