// The authors' door: what a backend implements, and what helps to do it.
export type {
  Backend,
  BackendInfo,
  EntrySpec,
  HoldTraces,
  Placement,
  Register,
  Registers,
  SeenEntry,
  Session,
  Turn,
} from './spi.ts';
export { QueueLockError, detailOf, invalidArgument, isQueueLockError } from './errors.ts';
export type { QueueLockErrorCode, QueueLockErrorOptions, RevocationReason } from './errors.ts';
export { isDefinite, repeatUntilDefinite } from './definite.ts';
export {
  askUntilDefinite,
  turnOf,
  turnsByWatching,
  type Ahead,
  type QueueView,
  type Rule,
  type Taker,
} from './watch-kit.ts';
export { parseBackendUrl, type BackendUrl } from './backend-url.ts';
export { systemClock, type Clock } from './clock.ts';
// What recipes are made with besides.
export { checkedSignal } from './checked-signal.ts';
export { after } from './timer.ts';
export { workUnder } from './work.ts';
