// Folder "checks": checks the arguments of calls before any request is sent.
// arguments.ts (this file) checks what a call receives. checked-options.ts checks the names and types of options. client-settings.ts fills
// in the defaults of a client.

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { LockClient } from '../api/api.ts';
import { heldByThisChain } from '../reentrancy/call-chain.ts';
import { MAX_TIMER_MS, checkedSize, checkedText, checkedTexts, count, within } from './checked.ts';
import { checkedObject, checkedOptions } from './checked-options.ts';
import { fits } from '../base/utf8.ts';
import type { EntryLabel } from '../entry/entry-value.ts';
import { QueueLockError, invalidArgument } from '../api/errors.ts';
import type { SharedOwnership } from '../api/hold-api.ts';
import { EVICT_OPTIONS, STEAL_OPTIONS, HANDOVER_REQUEST_OPTIONS } from './known-options.ts';
import { limitOf } from '../entry/limit.ts';
import type { ClaimOptions } from '../api/options.ts';
import type { Backend, StoredEntry } from '../api/spi.ts';
import type { ClaimRequest } from '../entry/new-entry.ts';

const HOST = hostname();
const PID = process.pid;
/** Identifies this process among those with the same host name and process id, as containers often have. */
const INSTANCE = randomBytes(6).toString('hex');
const MAX_NAME_BYTES = 512;
const MAX_LIMIT = 1_000_000;
const MAX_NAMES = 60;
const MAX_REASON = 200;
const SHORT_OWNER = 100;
const MODES: ReadonlySet<unknown> = new Set<ClaimOptions['mode']>(['exclusive', 'shared']);

/** Checks that the first argument of `createLockClient` is a backend. Some callers pass a URL by mistake, which may contain a password. */
export function checkBackend(backend: Backend): void {
  // The error message must not repeat the text that the caller has passed, because it may be a URL with a password.
  if (typeof backend === 'string')
    throw new QueueLockError(
      'INVALID_ARGUMENT',
      'backend is a backend, not a URL: pass fromUrl(url) of @queuelock/etcd, @queuelock/zookeeper and so on; got a string',
    );
  const given: Partial<Backend> = checkedObject('backend', backend);
  if (typeof given.open === 'function' && typeof given.checkName === 'function' && given.info) return;
  throw invalidArgument('backend', backend, 'is a backend, as etcd(options) or fromUrl(url) returns it');
}

/** Checks that the work of a call is a function. */
export function checkWork(work: unknown): void {
  if (typeof work !== 'function') throw invalidArgument('work', work, 'is a function');
}

/** Checks the time limit for running work while a client closes. */
export function checkDrain(drainMs: number, name = 'drainMs'): void {
  within(name, drainMs, { min: 0, max: MAX_TIMER_MS });
}

/** Checks that an entry has a key and an order number, as the entries that `watch` emits have. */
export function checkEntry(entry: Pick<StoredEntry, 'key' | 'order'>): void {
  const { key, order } = checkedObject('entry', entry);
  if (typeof key !== 'string' || typeof order !== 'bigint')
    throw invalidArgument('entry', entry, 'has key and order, as watch shows them');
}

/** Checks the arguments of an eviction. Returns its reason. */
export function checkedEviction(
  entry: Pick<StoredEntry, 'key' | 'order'>,
  options: Parameters<LockClient['evict']>[2],
): string {
  checkEntry(entry);
  return checkedReason('reason', checkedOptions('options of evict', options, EVICT_OPTIONS).reason);
}

/** Values from the client's options that every acquisition uses as defaults. */
export interface RequestDefaults {
  readonly owner: string;
  readonly longestHoldMs: number;
}

/** Checks the options of one claim, and returns them with defaults as a request. */
export function requestOf(name: string, options: ClaimOptions, defaults: RequestDefaults): ClaimRequest {
  const { signal, timeoutMs, minRemainingMs = 0, mode = 'exclusive', permits = 1, id } = options;
  const limit = limitOf(options, (now) => count('limit', now, MAX_LIMIT));
  checkWaitLimit(options);
  const why = ', which is what a heartbeat proves at best with this ttlMs';
  within('minRemainingMs', minRemainingMs, { min: 0, max: defaults.longestHoldMs, why });
  if (!MODES.has(mode)) throw invalidArgument('mode', mode, "is 'exclusive' or 'shared'");
  if (mode === 'shared' && (limit.fixed !== 1 || permits !== 1))
    throw invalidArgument('mode', mode, "is 'exclusive' with a limit or permits");
  if (id !== undefined && !/^[0-9a-f]{32}$/.test(id))
    throw invalidArgument('id', id, 'is the id of an entry');
  return {
    queue: name,
    id,
    shared: mode === 'shared',
    permits: count('permits', permits, limit.fixed ?? MAX_LIMIT),
    limit,
    label: labelOf(options, defaults),
    typicalHoldMs: checkTypicalHold(options.typicalHoldMs),
    minRemainingMs,
    waitLimit: { signal, timeoutMs },
    inLine: inLineOf(options),
  };
}

/** Checks the options that limit a wait: `signal` and `timeoutMs`. */
export function checkWaitLimit({ signal, timeoutMs }: Pick<ClaimOptions, 'signal' | 'timeoutMs'>): void {
  if (timeoutMs !== undefined && timeoutMs !== Infinity)
    within('timeoutMs', timeoutMs, { min: 0, max: MAX_TIMER_MS });
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidArgument('signal', signal, 'is an AbortSignal');
  }
}

/** Checks the option `typicalHoldMs`. */
export function checkTypicalHold(typicalHoldMs: number | undefined): number | undefined {
  if (typicalHoldMs !== undefined) within('typicalHoldMs', typicalHoldMs, { min: 0, max: MAX_TIMER_MS });
  return typicalHoldMs;
}

/** Checks a queue's name: first by the rule of all backends, then by the rule of this backend. */
export function checkName(name: string, backend: Backend): void {
  if (typeof name !== 'string' || name === '')
    throw invalidArgument('name', name, 'is a string that is not empty');
  if (/\p{Surrogate}/u.test(name)) throw invalidArgument('name', name, 'is well-formed Unicode');
  if (!fits(name, MAX_NAME_BYTES)) {
    throw invalidArgument('name', name, `is at most ${String(MAX_NAME_BYTES)} bytes of UTF-8`);
  }
  backend.checkName(name);
}

/** Checks the names of a multi-lock. */
export function checkNames(names: readonly string[], backend: Backend): void {
  if (!Array.isArray(names) || names.length === 0 || names.length > MAX_NAMES)
    throw invalidArgument('names', names, `are 1 to ${String(MAX_NAMES)}`);
  const list: readonly string[] = names;
  for (const name of list) checkName(name, backend);
  const twice = list.find((name, at) => list.indexOf(name) < at);
  if (twice !== undefined) throw invalidArgument('names', twice, 'are all different');
}

/** Checks the reason of a handover request or an eviction. */
function checkedReason(argument: string, reason: string | undefined): string {
  const text = checkedText(argument, reason);
  if (text !== '' && text.length <= MAX_REASON) return text;
  throw invalidArgument(argument, text, `is a text of 1 to ${String(MAX_REASON)} characters`);
}

function inLineOf(options: ClaimOptions): ClaimRequest['inLine'] {
  const { maxWaiters, maxExpectedWaitMs, steal, request, timeoutMs, value } = options;
  if (maxWaiters !== undefined) count('maxWaiters', maxWaiters, MAX_LIMIT);
  if (maxExpectedWaitMs !== undefined)
    within('maxExpectedWaitMs', maxExpectedWaitMs, { min: 0, max: MAX_TIMER_MS });
  if (steal) checkedReason('steal.reason', checkedOptions('steal', steal, STEAL_OPTIONS).reason);
  if (request) {
    checkedOptions('request', request, HANDOVER_REQUEST_OPTIONS);
    checkedReason('request.reason', request.reason);
    within('request.withinMs', request.withinMs, { min: 1, max: MAX_TIMER_MS });
  }
  if (timeoutMs === 0 && (steal ?? request)) {
    const requested = steal ? 'steal' : 'request';
    throw invalidArgument(requested, 'timeoutMs: 0', 'requires a wait in the queue, and a try does not wait');
  }
  if (request && value !== undefined)
    throw invalidArgument('request', 'value', 'is published in the entry, which cannot also carry a value');
  if (maxWaiters === undefined && maxExpectedWaitMs === undefined && !steal && !request) return NO_REQUEST;
  return {
    ...(maxWaiters === undefined ? {} : { maxWaiters }),
    ...(maxExpectedWaitMs === undefined ? {} : { maxExpectedWaitMs }),
    ...(steal ? { steal } : {}),
    ...(request ? { request } : {}),
  };
}

// Empty values that all claims without the corresponding options share, because thousands of claims may wait at the same time.
const NO_METADATA: EntryLabel['metadata'] = {};
const NO_HOLDS: readonly string[] = [];
const NO_REQUEST: ClaimRequest['inLine'] = {};

function labelOf(
  { value, owner, metadata, request, holding }: ClaimOptions,
  defaults: RequestDefaults,
): EntryLabel | string {
  if (value !== undefined) return checkedText('value', value);
  const user = {
    owner: checkedText('owner', owner ?? defaults.owner),
    metadata: metadata === undefined ? NO_METADATA : checkedTexts('metadata', metadata),
  };
  // Without metadata, an owner of at most 100 UTF-16 code units always fits, because JSON needs at most six
  // bytes for a code unit.
  if (metadata !== undefined || user.owner.length > SHORT_OWNER)
    checkedSize('owner and metadata as JSON', JSON.stringify(user));
  const held =
    holding === undefined ? heldByThisChain().map(({ ownership }) => ownership) : checkedHolds(holding);
  const label = {
    owner: user.owner,
    metadata: user.metadata,
    host: HOST,
    pid: PID,
    instance: INSTANCE,
    holds: idsOf(held),
  };
  return request ? { ...label, request } : label;
}

function idsOf(held: readonly SharedOwnership[]): readonly string[] {
  return held.length === 0 ? NO_HOLDS : [...new Set(held.filter(isHeld).map(({ id }) => id))];
}

function checkedHolds(holds: readonly SharedOwnership[]): readonly SharedOwnership[] {
  const isOwnership = (hold: unknown): boolean => typeof hold === 'object' && hold !== null && 'held' in hold;
  if (Array.isArray(holds) && holds.every(isOwnership)) return holds as readonly SharedOwnership[];
  throw invalidArgument('holding', holds, 'is a list of ownerships');
}

function isHeld({ held }: SharedOwnership): boolean {
  return held;
}
