import type { CloseOptions, LockClient, MultiOptions, MultiRunOptions } from '../api/api.ts';
import { knownWithout, type KnownOptions } from './checked-options.ts';
import type {
  AcquireOptions,
  ClaimOptions,
  LockClientOptions,
  RunOptions,
  WorkOptions,
} from '../api/options.ts';
import type { HandoverRequestOptions } from '../api/handover-api.ts';

export const CLIENT_OPTIONS: KnownOptions<LockClientOptions> = {
  ttlMs: 'number',
  heartbeatIntervalMs: 'number',
  safetyMarginMs: 'number',
  lockDelayMs: 'number',
  maxBlockedMs: 'number',
  recordHolds: 'number',
  connectTimeoutMs: 'number',
  resume: 'string',
  owner: 'string',
  clock: 'object',
};

export const MULTI_OPTIONS: KnownOptions<MultiOptions> = {
  signal: 'any',
  timeoutMs: 'number',
  minRemainingMs: 'number',
  owner: 'string',
  metadata: 'object',
  mode: 'any',
  holding: 'any',
};

/** Options that limit running work: `stop` and `workTimeoutMs`. Recipes use them too. */
export const WORK_OPTIONS: KnownOptions<WorkOptions> = { stop: 'any', workTimeoutMs: 'number' };

export const MULTI_RUN_OPTIONS: KnownOptions<MultiRunOptions> = { ...MULTI_OPTIONS, ...WORK_OPTIONS };

export const TRY_MULTI_OPTIONS: KnownOptions<Omit<MultiOptions, 'timeoutMs'>> = knownWithout(
  MULTI_OPTIONS,
  'timeoutMs',
);

/** Options of `claim`. Recipes use them too. */
export const CLAIM_OPTIONS: KnownOptions<ClaimOptions> = {
  ...MULTI_OPTIONS,
  limit: 'any',
  permits: 'number',
  maxWaiters: 'number',
  maxExpectedWaitMs: 'number',
  steal: 'object',
  request: 'object',
  id: 'string',
  typicalHoldMs: 'number',
  value: 'string',
};

/** Options of `acquire`. Recipes use them too. */
export const ACQUIRE_OPTIONS: KnownOptions<AcquireOptions> = {
  ...CLAIM_OPTIONS,
  reentrant: 'boolean',
  reenter: 'object',
  onPosition: 'function',
};

/** Options of `run`. Recipes use them too. */
export const RUN_OPTIONS: KnownOptions<RunOptions> = { ...ACQUIRE_OPTIONS, ...WORK_OPTIONS };

export const TRY_ACQUIRE_OPTIONS: KnownOptions<Omit<AcquireOptions, 'timeoutMs'>> = knownWithout(
  ACQUIRE_OPTIONS,
  'timeoutMs',
);

export const STEAL_OPTIONS: KnownOptions<NonNullable<ClaimOptions['steal']>> = { reason: 'string' };

export const HANDOVER_REQUEST_OPTIONS: KnownOptions<HandoverRequestOptions> = {
  reason: 'string',
  withinMs: 'number',
};

export const CLOSE_OPTIONS: KnownOptions<CloseOptions> = { drainMs: 'number' };

export const EVICT_OPTIONS: KnownOptions<Parameters<LockClient['evict']>[2]> = { reason: 'string' };
