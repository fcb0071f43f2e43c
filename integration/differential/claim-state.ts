import { isQueueLockError, type ClaimOptions, type Hold } from '@queuelock/core';
import type { Observable } from 'rxjs';
import type { Place } from './history.ts';
import { KIND_OF, type Terms } from './step.ts';

/**
 * How long a waiter waits for the reply to its handover request, in milliseconds. It is longer than it takes
 * to play a script.
 */
const REPLY_WITHIN_MS = 3_600_000;

/** A state of a claim of one name or of several. */
export type State =
  | { readonly status: 'joining' }
  | ({ readonly status: 'queued'; readonly id?: string; readonly position?: number } & Partial<Place>)
  | { readonly status: 'held' | 'suspect'; readonly ownership: Hold }
  | { readonly status: 'ended'; readonly outcome: 'released' }
  | { readonly status: 'ended'; readonly outcome: 'lost' | 'failed'; readonly error: unknown };

interface ClaimRequest {
  readonly name: string;
  readonly queues: readonly string[];
  readonly terms: Terms;
  /**
   * Whether the claim's entry is shared, perhaps because the claim has changed it from exclusive to shared.
   */
  readonly isShared: boolean;
  /** Id of the entry that the claim takes over in a resumed session. `undefined` for a claim that joins. */
  readonly id: string | undefined;
  readonly limit$: Observable<number>;
  readonly signal: AbortSignal;
}

/**
 * Returns the options of a new claim, or the options with which a claim takes over its entry in a resumed
 * session.
 */
export function optionsOf({ name, queues, terms, isShared, id, limit$, signal }: ClaimRequest): ClaimOptions {
  const common = { owner: name, signal, ...(isShared && { mode: 'shared' as const }) };
  const share = KIND_OF[queues[0]!] === 'varying' ? { limit: limit$ } : permitsOf(terms);
  return { ...common, ...share, ...(id === undefined ? mannerOf(name, terms) : { id }) };
}

function permitsOf({ limit, permits = 1 }: Terms): ClaimOptions {
  return limit === undefined ? {} : { limit, permits };
}

function mannerOf(name: string, { isTry, isTheft, isRequest, maxWaiters }: Terms): ClaimOptions {
  return {
    ...(isTry && { timeoutMs: 0 }),
    ...(isTheft && { steal: { reason: `${name} steals` } }),
    ...(isRequest && { request: { reason: `${name} requests`, withinMs: REPLY_WITHIN_MS } }),
    ...(maxWaiters !== undefined && { maxWaiters }),
  };
}

/** Returns why the claim has ended: the reason of a loss of the lock, or the code of a failure. */
export function reasonOf(error: unknown): string {
  return isQueueLockError(error) ? (error.reason ?? error.code) : String(error);
}

/** Describes an error that ended a claim. Leaves out its message, which names ids and addresses. */
export function describeError(error: unknown): string {
  if (!isQueueLockError(error)) return String(error);
  const { code, reason = '', eviction } = error;
  const by = eviction ? `${eviction.kind} by ${eviction.by}: ${eviction.reason}` : '';
  return [code, reason, by].filter(Boolean).join(' ');
}
