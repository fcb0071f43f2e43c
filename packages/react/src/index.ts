export { BridgeProvider, useBridge, type BridgeProviderProps } from './provider.ts';
export {
  useContenders,
  useDeadlocks,
  useFaults,
  useLeader,
  useQueue,
  useQueues,
  useRecord,
  useSessions,
  useTimeline,
  type LeaderView,
} from './snapshots.ts';
export { useConnection } from './use-observed.ts';
export { useLock, type LockView } from './use-lock.ts';
export type { LockState } from './component-join.ts';
