// The users' door.
export type {
  ClaimOutcome,
  ClaimState,
  CloseOptions,
  LockClient,
  MultiClaimState,
  MultiLock,
  MultiOptions,
  MultiRunOptions,
  SessionState,
} from './api/api.ts';
export type {
  HandoverAnswer,
  HandoverRequest,
  Hold,
  MultiOwnership,
  Ownership,
  SharedOwnership,
} from './api/hold-api.ts';
export type { Eviction, QueueEntry, QueueState, RegisterState, SharedRegister } from './api/queue-api.ts';
export type { QueueChange, QueueHistory, QueuesState } from './api/store-api.ts';
export type { Finding, ListedQueue } from './api/store-facts.ts';
export type {
  AcquireOptions,
  ClaimOptions,
  HandoverWish,
  LockClientOptions,
  RunOptions,
  Together,
  WorkOptions,
} from './api/options.ts';
export type { Clock } from './base/clock.ts';
export { escapeControls, quote, toPrintable } from './base/printable.ts';
export { QueueLockError, isQueueLockError } from './api/errors.ts';
export type { QueueLockErrorCode, QueueLockErrorOptions, RevocationReason } from './api/errors.ts';
export type { Backend, BackendInfo } from './api/spi.ts';
export { createLockClient } from './client.ts';
export { anySignal } from './base/checked-signal.ts';
export { closeOnSignals, type CloseOnSignalsOptions } from './close-on-signals.ts';
export { firstHeld } from './claim/first-held.ts';
export { admittedOf } from './turn/admitted.ts';
export type { Line, LineState, Place, WaitBasis } from './api/line-api.ts';
export {
  CHANNELS,
  type AcquireMessage,
  type HandoverMessage,
  type HoldMessage,
  type LockMessage,
  type LossMessage,
} from './diagnostics/diagnostics-api.ts';
export { placeOf, type PlaceOptions } from './line/place.ts';
export { positionsOf } from './turn/positions.ts';
export { expectedWait, type ExpectedWait, type HoldTimes } from './turn/expected-wait.ts';
