// Entry point for backend authors: the interfaces that a backend implements, and helpers.
export type {
  Backend,
  BackendInfo,
  EntrySpec,
  HoldTraces,
  ObserveOptions,
  Placement,
  Register,
  Registers,
  StoredEntry,
  Session,
  EnqueueAllOptions,
  Turn,
} from './api/spi.ts';
export type { OpenRenewer, Renewer, RenewerData, RenewerSource, RenewerSupport } from './api/renewer-api.ts';
export type { Finding, ListedQueue, PastChange, StoredHistory } from './api/store-facts.ts';
export { QueueLockError, detailOf, hasResponded, invalidArgument, isQueueLockError } from './api/errors.ts';
export type { QueueLockErrorCode, QueueLockErrorOptions, RevocationReason } from './api/errors.ts';
export { isDefinite, repeatUntilDefinite } from './kit/definite.ts';
export {
  entriesAheadWithout,
  askUntilDefinite,
  remembered,
  turnOf,
  type EntriesAhead,
  type Departure,
  type AdmissionRule,
  type Taker,
} from './turn/watch-kit.ts';
export {
  OWN_UNWATCHED_MS,
  followTurns,
  turnsByWatching,
  type QueueView,
  type TurnListener,
} from './turn/turn-watch.ts';
export { requireSameEntry, type EntryShape } from './kit/same-entry.ts';
export { LocalWaiters, type LocalWait } from './turn/local-waiters.ts';
export { HeadLeaseTimer, type HeadLeaseTimerOptions } from './turn/head-lease-timer.ts';
export {
  SessionReconciler,
  type FoundEntry,
  type SessionReconcilerOptions,
} from './turn/session-reconciler.ts';
export { EntryTracker, refOf, type TrackedEntry, type EntryStatus } from './turn/entry-tracker.ts';
export { PendingEnqueues, type EntryName } from './kit/pending-enqueues.ts';
export { readings, type ReadingSource } from './kit/readings.ts';
export { DepartureCounter, type FoundQueue } from './kit/departure-counter.ts';
export { DeadlineQueue, type TimedTask } from './kit/deadline-queue.ts';
export { ConcurrencyLimiter } from './kit/concurrency-limiter.ts';
export { connectionClosed, entryLost, failureOf, sessionLost } from './kit/store-errors.ts';
export { labelFromOwner, labelOfOwner } from './entry/entry-value.ts';
export {
  closing,
  inspectHandedIn,
  requireMethods,
  unreadableReply,
  type RequiredMethods,
} from './kit/handed-in.ts';
export { renewerSupport, type RenewerSupportOptions } from './kit/renewer-support.ts';
export { parseBackendUrl, type BackendUrl } from './kit/backend-url.ts';
export {
  readPems,
  requireCertWithKey,
  requireWholePems,
  secureContextOf,
  type PemContents,
  type PemFiles,
  type PemTexts,
} from './kit/pem-files.ts';
export { optionOfQueue } from './kit/option-of-queue.ts';
export { checkQueueName, checkedRegisterKind, checkedRegisterText } from './kit/name-checks.ts';
export {
  FreshCredentials,
  isFunction,
  providedByCaller,
  valueOf,
  type CredentialSource,
  type Provided,
} from './kit/fresh-credentials.ts';
export {
  connectionCredentials,
  havePems,
  type ConnectionCredentials,
  type CredentialParts,
  type Login,
} from './checks/connection-credentials.ts';
export { leftOfTtl } from './session/budget.ts';
export { systemClock, type Clock } from './base/clock.ts';
export { backoffDelay, withJitter, type RandomSource, type BackoffOptions } from './base/backoff.ts';
// The package `@queuelock/recipes` uses the following helpers too.
export { ACQUIRE_OPTIONS, CLAIM_OPTIONS, RUN_OPTIONS, WORK_OPTIONS } from './checks/known-options.ts';
export {
  checkedObject,
  checkedOptions,
  knownWithout,
  type KnownOptions,
  type OptionType,
} from './checks/checked-options.ts';
export { CallerAbortController, boundToCaller, inCallerContext } from './base/caller-context.ts';
export { checkedSignal } from './base/checked-signal.ts';
export { after } from './base/timer.ts';
export { checkWorkOptions, waitOf } from './work/work-options.ts';
export { workUnder, type WorkTerms } from './work/work.ts';
export { inJson, jsonable } from './base/jsonable.ts';
