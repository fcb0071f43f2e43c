import type { Observed } from '@queuelock/bridge/client';
import type {
  CandidateSnapshot,
  ContendersSnapshot,
  DeadlocksSnapshot,
  ElectionSnapshot,
  FaultsSnapshot,
  QueueSnapshot,
  QueuesSnapshot,
  RecordSnapshot,
  SessionsSnapshot,
  TimelineSnapshot,
} from '@queuelock/bridge/wire';
import { useMemo } from 'react';
import { useObserved } from './use-observed.ts';

/** Returns the snapshot of a queue: holders and waiters, in order. All components of a page that use the same queue share one stream. */
export function useQueue(name: string): Observed<QueueSnapshot> {
  return useObserved('queue', name);
}

/** Returns the queues whose names begin with `prefix`. Default: all queues. */
export function useQueues(prefix = ''): Observed<QueuesSnapshot> {
  return useObserved('queues', prefix);
}

/**
 * Returns the chronicle of a queue: which clients joined, held and left, as far as the bridge has observed
 * it.
 */
export function useTimeline(name: string): Observed<TimelineSnapshot> {
  return useObserved('timeline', name);
}

/** Returns the recorded holds of a queue, also from before the bridge was started. None if no client records them. */
export function useRecord(name: string): Observed<RecordSnapshot> {
  return useObserved('record', name);
}

/** Returns the entries of many queues, grouped by the program that made them. */
export function useSessions(prefix = ''): Observed<SessionsSnapshot> {
  return useObserved('sessions', prefix);
}

/** Returns the deadlocks that exist now among the queues whose names begin with `prefix`. */
export function useDeadlocks(prefix = ''): Observed<DeadlocksSnapshot> {
  return useObserved('deadlocks', prefix);
}

/** Returns the present faults of the store, and those that occurred while the bridge observed it. */
export function useFaults(prefix = ''): Observed<FaultsSnapshot> {
  return useObserved('faults', prefix);
}

/**
 * Returns the demo programs that contend for the lock `name`, if the bridge runs a demo. Visitors of the page
 * may freeze these programs or cut their connections.
 */
export function useContenders(name: string): Observed<ContendersSnapshot> {
  return useObserved('contenders', name);
}

/** Snapshot of an election, with its leader. */
export type LeaderView = Observed<ElectionSnapshot> & {
  /**
   * The leader, as far as the bridge knows it. `undefined` when there is none, and before the first snapshot
   * (then `snapshot` is `undefined` too).
   */
  readonly leader: CandidateSnapshot | undefined;
};

/** Returns the leader and the candidates of an election of `@queuelock/recipes`. */
export function useLeader(name: string): LeaderView {
  const seen = useObserved('election', name);
  return useMemo(() => ({ ...seen, leader: seen.snapshot?.candidates[0] }), [seen]);
}
