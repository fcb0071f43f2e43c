import { hostname } from 'node:os';
import type { Backend } from './spi.ts';
import { systemClock } from './clock.ts';
import { encodeLabel } from './entry-value.ts';
import { invalidArgument } from './errors.ts';
import type { ClaimRequest } from './lock.ts';
import type { AcquireOptions, LockClientOptions } from './options.ts';
import type { SessionSettings } from './session.ts';

const MAX_NAME_BYTES = 512;
const MAX_TTL_MS = 24 * 60 * 60 * 1_000;
// setTimeout runs at once when asked to wait longer than this.
const MAX_TIMER_MS = 2_147_483_647;

/** Checks the client's options and fills in the defaults. */
export function settingsOf(
  backend: Backend,
  options: LockClientOptions,
): SessionSettings & { readonly owner: string; readonly uncleanHandoverDelayMs: number } {
  const { minTtlMs, minTtlRule, defaultTtlMs, name } = backend.info;
  const { ttlMs = defaultTtlMs, uncleanHandoverDelayMs = 0 } = options;
  const why = ` on ${name}${minTtlRule === undefined ? '' : `: ${minTtlRule}`}`;
  within('ttlMs', ttlMs, { min: minTtlMs, max: MAX_TTL_MS, why });
  within('connectTimeoutMs', options.connectTimeoutMs ?? 5_000, { min: 1, max: MAX_TIMER_MS });
  within('uncleanHandoverDelayMs', uncleanHandoverDelayMs, { min: 0, max: MAX_TIMER_MS });
  within('marginMs', options.marginMs ?? 0, { min: 0, max: ttlMs / 2, why: ', half the TTL' });
  within('renewEveryMs', options.renewEveryMs ?? ttlMs / 4, {
    min: 1,
    max: ttlMs / 2,
    why: ', half the TTL',
  });
  return {
    ...options,
    ttlMs,
    uncleanHandoverDelayMs,
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    clock: options.clock ?? systemClock(),
    owner: options.owner ?? `${hostname()}:${String(process.pid)}`,
  };
}

/** What a client's settings say of every acquisition. */
export interface RequestDefaults {
  readonly owner: string;
  readonly longestHoldMs: number;
}

/** Checks what is asked of one acquisition. */
export function requestOf(name: string, options: AcquireOptions, defaults: RequestDefaults): ClaimRequest {
  const { signal, timeoutMs, needsMs = 0, metadata = {} } = options;
  if (timeoutMs !== undefined && timeoutMs !== Infinity)
    within('timeoutMs', timeoutMs, { min: 0, max: MAX_TIMER_MS });
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidArgument('signal', signal, 'is an AbortSignal');
  }
  const why = ', which is what a heartbeat proves at best with this ttlMs';
  within('needsMs', needsMs, { min: 0, max: defaults.longestHoldMs, why });
  const value = encodeLabel({
    owner: text('owner', options.owner ?? defaults.owner),
    metadata: textsOf(metadata),
  });
  return { wish: { queue: name, shared: false, limit: 1, value }, needsMs, limit: { signal, timeoutMs } };
}

/** Checks a queue's name: the rule that holds everywhere, then the backend's own. */
export function checkName(name: string, backend: Backend): void {
  if (typeof name !== 'string' || name === '')
    throw invalidArgument('name', name, 'is a string that is not empty');
  if (/\p{Surrogate}/u.test(name)) throw invalidArgument('name', name, 'is well-formed Unicode');
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw invalidArgument('name', name, `takes at most ${String(MAX_NAME_BYTES)} bytes of UTF-8`);
  }
  backend.checkName(name);
}

function within(argument: string, value: number, range: { min: number; max: number; why?: string }): void {
  if (typeof value === 'number' && value >= range.min && value <= range.max) return;
  throw invalidArgument(
    argument,
    value,
    `is a number of milliseconds from ${String(range.min)} to ${String(range.max)}${range.why ?? ''}`,
  );
}

function text(argument: string, value: string): string {
  if (typeof value !== 'string') throw invalidArgument(argument, value, 'is a string');
  return value;
}

function textsOf(metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [key, value] of Object.entries(metadata)) text(`metadata.${key}`, value);
  return metadata;
}
