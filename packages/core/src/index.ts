// Entry point for users.
export type {
  CloseOptions,
  LockClient,
  MultiClaimState,
  MultiLock,
  MultiOptions,
  MultiRunOptions,
  SessionState,
} from './api/api.ts';
export type { ClaimOutcome } from './api/claim-state.ts';
export type { ClaimState } from './api/claim-state.ts';
export type { HandoverRequest, Hold, MultiOwnership, Ownership, SharedOwnership } from './api/hold-api.ts';
export type { HandoverAnswer } from './api/handover-api.ts';
export type { Eviction, QueueEntry, QueueState, RegisterState, SharedRegister } from './api/queue-api.ts';
export type { RecordedHold, RecordedHoldEnd, RecordedHoldFacts, RecordedHoldsState } from './api/past-api.ts';
export type { QueueChange, QueueHistory, QueuesState } from './api/store-api.ts';
export type { Finding, ListedQueue } from './api/store-facts.ts';
export type {
  AcquireOptions,
  ClaimOptions,
  LockClientOptions,
  RunOptions,
  SharedOptions,
  WorkOptions,
} from './api/options.ts';
export type { HandoverRequestOptions } from './api/handover-api.ts';
export type { Clock } from './base/clock.ts';
export { escapeControls, quote, toPrintable } from './base/printable.ts';
export { QueueLockError, isQueueLockError } from './api/errors.ts';
export type { QueueLockErrorCode, QueueLockErrorOptions, RevocationReason } from './api/errors.ts';
export type { Backend, BackendInfo } from './api/spi.ts';
export { createLockClient } from './client.ts';
export { anySignal } from './base/checked-signal.ts';
export { closeOnSignals, type CloseOnSignalsOptions } from './close-on-signals.ts';
export { waitUntilHeld } from './claim/wait-until-held.ts';
export { admittedEntries } from './turn/admitted.ts';
export type { PositionStream, PositionedClaimState, QueuePosition, WaitBasis } from './api/position-api.ts';
export {
  CHANNELS,
  type AcquireMessage,
  type HandoverMessage,
  type HoldMessage,
  type LockMessage,
  type LossMessage,
} from './diagnostics/diagnostics-api.ts';
export { watchPosition, type WatchPositionOptions } from './position/watch-position.ts';
export { positionsOf } from './turn/positions.ts';
export { expectedWait, type ExpectedWait, type HoldTimes } from './turn/expected-wait.ts';
