// Folder "turn": decides which entries are admitted, and for which entries a waiter waits.
// In watch-kit.ts (this file), `turnOf` decides whether an entry is admitted, and `inTheWay` returns the entries to wait for. turn-watch.ts watches
// these entries. admitted.ts, positions.ts and expected-wait.ts apply the same rule to observed queues.

import { repeatUntilDefinite } from '../kit/definite.ts';
import { Observable } from '../base/rx.ts';
import { Stop } from '../base/stop.ts';
import type { EntrySpec, Turn } from '../api/spi.ts';

/** A reference to an entry ahead, with the number of permits that the entry takes. Default 1. */
export interface Taker {
  readonly permits?: number | undefined;
}

/** The properties of an entry on which its admission depends. */
export type AdmissionRule = Pick<EntrySpec, 'limit' | 'permits'>;

/** The conflicting entries ahead of an entry. */
export interface EntriesAhead<R> {
  /** The conflicting entries ahead, the nearest first. Contains all of them, or at least as many as the caller has requested. */
  readonly refs: readonly R[];
  /** Number of all conflicting entries ahead. Set where the backend knows it without a further request. */
  readonly total?: number;
  /** The store's revision at the read that returned these entries; see `Turn.grantToken`. */
  readonly seenAt?: bigint;
}

/** What is known about the departure of an entry that was ahead of a waiter. */
export interface Departure {
  /**
   * Whether the removed entry was certainly admitted, with no conflicting entry ahead of it. That is so when an exclusive entry with a limit of 1
   * leaves after its hold. It is not set for an entry that gave up or whose client died while it waited.
   */
  readonly owned?: boolean;
  /** The store's revision of the removal. Set on stores whose reads set `EntriesAhead.seenAt`. */
  readonly at?: bigint;
}

/** Decides whether an entry is admitted, for all kinds of locks and semaphores. */
export function turnOf(ahead: EntriesAhead<Taker>, rule: AdmissionRule): Turn {
  const { refs, total, seenAt } = ahead;
  const admitted = inTheWay(refs, rule).length === 0;
  return {
    admitted,
    ...(total === undefined ? {} : { ahead: total }),
    ...(admitted && seenAt !== undefined ? { grantToken: seenAt } : {}),
  };
}

/**
 * Returns the nearest entries ahead that together leave too few permits for the waiter's entry. Returns an empty list when enough permits are left.
 * While all returned entries exist, the waiter's entry is not admitted.
 */
export function inTheWay<R extends Taker>(
  nearestFirst: readonly R[],
  { limit, permits = 1 }: AdmissionRule,
): readonly R[] {
  let left = limit - permits;
  const last = nearestFirst.findIndex((ref) => (left -= ref.permits ?? 1) < 0);
  return nearestFirst.slice(0, last + 1);
}

/**
 * Returns the entries ahead after one of them has left, if the waiter's entry is certainly admitted now. Otherwise returns `undefined`, and the waiter
 * must read the queue. New entries do not matter, because they join behind the waiter's entry.
 */
export function entriesAheadWithout<R extends Taker>(
  { refs, total }: EntriesAhead<R>,
  { ref, owned = false, at }: Departure & { readonly ref: R },
  rule: AdmissionRule,
): EntriesAhead<R> | undefined {
  const place = refs.indexOf(ref);
  const isComplete = total === refs.length;
  if (!owned && !isComplete) return undefined;
  const left = owned ? refs.slice(0, place) : refs.filter((other) => other !== ref);
  if (inTheWay(left, rule).length > 0) return undefined;
  return { refs: left, total: left.length, ...(at === undefined ? {} : { seenAt: at }) };
}

/**
 * Returns only the entries ahead that `entriesAheadWithout` needs after the removal of one of them, because thousands of waiters may store them. If
 * no removal of a single entry can admit the waiter's entry, or the queue was read only in part, returns only the blocking entries.
 */
export function remembered<R extends Taker>(ahead: EntriesAhead<R>, rule: AdmissionRule): EntriesAhead<R> {
  if (ahead.refs.length === 0) return ahead;
  const blocking = inTheWay(ahead.refs, rule);
  if (blocking.length === ahead.refs.length) return ahead;
  const mayBeAdmittedNext = blocking.some((ref) => entriesAheadWithout(ahead, { ref }, rule));
  return mayBeAdmittedNext ? ahead : Object.assign({}, ahead, { refs: blocking });
}

/**
 * Calls `request` like `repeatUntilDefinite` when subscribed, and emits its result. Errors when the failure is definite. Unsubscribing ends the
 * attempts.
 */
export function askUntilDefinite<T>(request: () => Promise<T>): Observable<T> {
  return new Observable((subscriber) => {
    const stop = new Stop();
    repeatUntilDefinite(request, stop).then(
      (response) => {
        subscriber.next(response);
        subscriber.complete();
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    return () => {
      stop.abort();
    };
  });
}
