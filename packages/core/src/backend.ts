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
} from './api/spi.ts';
export type { Finding, ListedQueue, PastChange, StoredHistory } from './api/store-facts.ts';
export { QueueLockError, detailOf, invalidArgument, isQueueLockError } from './api/errors.ts';
export type { QueueLockErrorCode, QueueLockErrorOptions, RevocationReason } from './api/errors.ts';
export { isDefinite, repeatUntilDefinite } from './kit/definite.ts';
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
} from './turn/watch-kit.ts';
export { requireSameEntry, type EntryShape } from './kit/same-entry.ts';
export { Followed, type FollowedEntry } from './turn/followed.ts';
export { Fronts, type FrontsSettings } from './turn/fronts.ts';
export { Looks, type FoundEntry, type LooksSettings } from './turn/looks.ts';
export { ToldEntries, type PlacedEntry, type Sight } from './turn/told-entries.ts';
export { OnTheirWay, type EntryName } from './kit/on-their-way.ts';
export { readings, type ReadingSource } from './kit/readings.ts';
export { Departures, type FoundQueue } from './kit/departures.ts';
export { Turnstile } from './kit/turnstile.ts';
export { connectionClosed, entryLost, failureOf, sessionLost } from './kit/store-errors.ts';
export { labelFromOwner, labelOfOwner } from './entry/entry-value.ts';
export { parseBackendUrl, type BackendUrl } from './kit/backend-url.ts';
export {
  readPems,
  requireCertWithKey,
  secureContextOf,
  type PemContents,
  type PemFiles,
  type PemTexts,
} from './kit/pem-files.ts';
export { leftOfTtl } from './session/budget.ts';
export { systemClock, type Clock } from './base/clock.ts';
export { pauseAfter, sooner, type Chance, type Growth } from './base/jitter.ts';
// What recipes are made with besides.
export { ACQUIRE_OPTIONS, CLAIM_OPTIONS, RUN_OPTIONS, WORK_OPTIONS } from './checks/known-options.ts';
export {
  checkedObject,
  checkedOptions,
  knownWithout,
  type KnownOptions,
  type OptionType,
} from './checks/checked-options.ts';
export { checkedSignal } from './base/checked-signal.ts';
export { after } from './base/timer.ts';
export { checkWorkOptions, waitOf } from './work/work-options.ts';
export { workUnder, type WorkTerms } from './work/work.ts';
export { inJson, jsonable } from './base/jsonable.ts';
