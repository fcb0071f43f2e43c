import { hostname } from 'node:os';
import { invalidArgument } from '../api/errors.ts';
import type { LockClientOptions } from '../api/options.ts';
import type { Backend } from '../api/spi.ts';
import { systemClock } from '../base/clock.ts';
import type { SessionSettings } from '../session/session.ts';
import { MAX_TIMER_MS, within } from './checked.ts';
import { checkMaxBlocked } from './max-blocked.ts';

const MAX_TTL_MS = 24 * 60 * 60 * 1_000;
const MAX_RECORDED = 100;

/** The options of a client, checked and with defaults. */
export interface ClientSettings extends SessionSettings {
  readonly owner: string;
  readonly lockDelayMs: number;
  readonly recordHolds: number;
}

/** Checks the client's options and fills in the defaults. */
export function settingsOf(backend: Backend, options: LockClientOptions): ClientSettings {
  const { minTtlMs, minTtlRule, defaultTtlMs, name } = backend.info;
  const { ttlMs = defaultTtlMs, lockDelayMs = 0, recordHolds = 0 } = options;
  const why = ` on ${name}${minTtlRule === undefined ? '' : `: ${minTtlRule}`}`;
  within('ttlMs', ttlMs, { min: minTtlMs, max: MAX_TTL_MS, why });
  within('connectTimeoutMs', options.connectTimeoutMs ?? 5_000, { min: 1, max: MAX_TIMER_MS });
  checkMaxBlocked(backend, options);
  within('lockDelayMs', lockDelayMs, { min: 0, max: MAX_TIMER_MS });
  within('safetyMarginMs', options.safetyMarginMs ?? 0, { min: 0, max: ttlMs / 2, why: ', half the TTL' });
  within('heartbeatIntervalMs', options.heartbeatIntervalMs ?? ttlMs / 4, {
    min: 1,
    max: ttlMs / 2,
    why: ', half the TTL',
  });
  checkRecorded(recordHolds, backend);
  return {
    ...options,
    ttlMs,
    lockDelayMs,
    recordHolds,
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    clock: options.clock ?? systemClock(),
    owner: options.owner ?? `${hostname()}:${String(process.pid)}`,
  };
}

function checkRecorded(recordHolds: number, { registers, info }: Backend): void {
  if (!Number.isInteger(recordHolds) || recordHolds < 0 || recordHolds > MAX_RECORDED)
    throw invalidArgument('recordHolds', recordHolds, `is a whole number from 0 to ${String(MAX_RECORDED)}`);
  if (recordHolds > 0 && !registers)
    throw invalidArgument('recordHolds', recordHolds, `is 0 on ${info.name}, which has no registers`);
}
