export { election } from './election.ts';
export type {
  CampaignOptions,
  Candidate,
  CandidatesState,
  Election,
  ElectionOptions,
  ElectionErrorEvent,
  LeaderState,
  Leadership,
  LeadOptions,
  TermEnd,
} from './election-api.ts';
export { underLock } from './under-lock.ts';
export { whileLeader } from './while-leader.ts';
export { describeDeadlock, findDeadlocks, type Deadlock, type StuckWait } from './deadlock.ts';
export { watchDeadlocks, type DeadlockSource, type DeadlockWatchOptions } from './deadlock-watch.ts';
export { acquireOrYield, yieldOnDeadlock, type YieldOptions } from './deadlock-yield.ts';
export { barrier, type Barrier } from './barrier.ts';
export { cohort } from './cohort.ts';
export type { Cohort, CohortHold, CohortOptions } from './cohort-api.ts';
export {
  curatorSemaphore,
  type CuratorSemaphore,
  type CuratorSemaphoreOptions,
  type LeaseOptions,
} from './curator-semaphore.ts';
export { doubleBarrier } from './double-barrier.ts';
export type { DoubleBarrier, RoundMembership } from './double-barrier-api.ts';
export { fairShare } from './fair-share.ts';
export type { FairShare, FairShareOptions, Share, ShareOptions, ShareRunOptions } from './fair-share-api.ts';
export { healthOf } from './health.ts';
export type {
  CheckIn,
  Health,
  HealthOptions,
  HealthProblem,
  HealthResult,
  HealthState,
  SupervisionOptions,
} from './health-api.ts';
export { latch, type Latch } from './latch.ts';
export { oncePer } from './once-per.ts';
export type {
  OncePer,
  OncePerOptions,
  Slot,
  SlotNote,
  SlotOptions,
  SlotOutcome,
  SlotWork,
} from './once-per-api.ts';
export { semaphore } from './semaphore.ts';
export type {
  PermitClaimOptions,
  PermitOptions,
  PermitRunOptions,
  ResizableSemaphore,
  Semaphore,
  SemaphoreOptions,
} from './semaphore-api.ts';
export type { WaitOptions } from './wait-limit.ts';
