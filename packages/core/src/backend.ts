// The authors' door: what a backend implements, and what helps to do it.
export type {
  Backend,
  BackendInfo,
  EntrySpec,
  HoldTraces,
  Looking,
  Placement,
  Register,
  Registers,
  SeenEntry,
  Session,
  TogetherOption,
  Turn,
} from './spi.ts';
export type { Finding, ListedQueue, PastChange, StoredHistory } from './store-facts.ts';
export { QueueLockError, detailOf, invalidArgument, isQueueLockError } from './errors.ts';
export type { QueueLockErrorCode, QueueLockErrorOptions, RevocationReason } from './errors.ts';
export { isDefinite, repeatUntilDefinite } from './definite.ts';
export {
  OWN_UNWATCHED_MS,
  aheadWithout,
  askUntilDefinite,
  turnOf,
  turnsByWatching,
  type Ahead,
  type Departure,
  type QueueView,
  type Rule,
  type Taker,
} from './watch-kit.ts';
export { requireSameEntry, type EntryShape } from './same-entry.ts';
export { Followed, type FollowedEntry } from './followed.ts';
export { Departures, type FoundQueue } from './departures.ts';
export { labelFromOwner, labelOfOwner } from './entry-value.ts';
export { parseBackendUrl, type BackendUrl } from './backend-url.ts';
export {
  readPems,
  requireCertWithKey,
  secureContextOf,
  type PemContents,
  type PemFiles,
  type PemTexts,
} from './pem-files.ts';
export { systemClock, type Clock } from './clock.ts';
export { pauseAfter, sooner, type Chance, type Growth } from './jitter.ts';
// What recipes are made with besides.
export { ACQUIRE_OPTIONS, CLAIM_OPTIONS, RUN_OPTIONS, WORK_OPTIONS } from './known-options.ts';
export {
  checkedObject,
  checkedOptions,
  knownWithout,
  type KnownOptions,
  type OptionType,
} from './checked-options.ts';
export { checkedSignal } from './checked-signal.ts';
export { after } from './timer.ts';
export { checkWorkOptions, waitOf } from './work-options.ts';
export { workUnder, type WorkTerms } from './work.ts';
export { inJson, jsonable } from './jsonable.ts';
