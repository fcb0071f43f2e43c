// Folder "handover": lets a waiter limit its wait by the queue's state, request a hand-off, or remove the entries ahead.
// in-line.ts (this file) applies queue limits, steals and requests while a claim waits. requests.ts delivers hand-off requests and
// responses. evictions.ts removes entries of other clients and records that.

import { admittedEntries } from '../turn/admitted.ts';
import type { Clock } from '../base/clock.ts';
import { QueueLockError } from '../api/errors.ts';
import { inTheWayOf, type Evictions } from './evictions.ts';
import { expectedWaitAt } from '../turn/expected-wait.ts';
import type { HandoverAnswer } from '../api/handover-api.ts';
import type { ClaimOptions } from '../api/options.ts';
import type { OwnLabel } from '../entry/own-label.ts';
import { positionsOf } from '../turn/positions.ts';
import type { QueueEntry, QueueState } from '../api/queue-api.ts';
import { answersTo } from './requests.ts';
import {
  EMPTY,
  concatMap,
  defer,
  filter,
  finalize,
  ignoreElements,
  map,
  merge,
  take,
  tap,
  type Observable,
} from '../base/rx.ts';
import { visible } from './visible.ts';

/** The options of a claim for which the client reads the queue while the claim waits. */
export type InLineOptions = Pick<ClaimOptions, 'maxWaiters' | 'maxExpectedWaitMs' | 'steal' | 'request'>;

/** Returns whether a claim has none of the options for which the client reads the queue. */
export function hasNoRequest(options: InLineOptions): boolean {
  return Object.keys(options).length === 0;
}

/** The objects of the client with which a waiting claim applies the options that concern the queue and its holder (`InLineOptions`). */
export interface InLineTools {
  readonly label: OwnLabel;
  readonly queue$: Observable<QueueState>;
  readonly evictions: Evictions;
  readonly clock: Clock;
}

/** Identifies an entry of a queue by `key` and `order`, because a later entry may have the same key. */
type Place = Pick<QueueEntry, 'key' | 'order'>;

/** A snapshot of the queue, and the claim's own entry in it. */
interface Snapshot {
  readonly own: QueueEntry;
  readonly entries: readonly QueueEntry[];
  readonly name: string;
}

/**
 * Applies the options of a waiting claim: its limits on the queue (`maxWaiters`, `maxExpectedWaitMs`), its `steal` and its handover request. Emits
 * the holder's responses to that request. Errors when the queue or the expected wait exceeds the limits.
 */
export function whileInLine(
  { id, ...place }: { readonly id: string } & Place,
  options: InLineOptions,
  tools: InLineTools,
): Observable<HandoverAnswer> {
  const { steal, request } = options;
  const requested = Object.keys(options).filter((option) => option !== 'request');
  const snapshot$ = firstSnapshot(place, tools.queue$.pipe(visible(requested.join(' and '))));
  const admission$ = snapshot$.pipe(
    tap((snapshot) => {
      throwIfTooLong(snapshot, options);
    }),
    ignoreElements(),
  );
  const theft$ = snapshot$.pipe(
    concatMap((snapshot) => (steal ? clearTheWay(snapshot, steal.reason, tools.evictions) : EMPTY)),
    ignoreElements(),
  );
  const isAdmissionLimited = options.maxWaiters !== undefined || options.maxExpectedWaitMs !== undefined;
  return merge(
    isAdmissionLimited ? admission$ : EMPTY,
    steal ? theft$ : EMPTY,
    request ? answersTo({ id, withinMs: request.withinMs }, tools) : EMPTY,
  );
}

function firstSnapshot(place: Place, queue$: Observable<QueueState>): Observable<Snapshot> {
  const isOwn = ({ key, order }: QueueEntry): boolean => key === place.key && order === place.order;
  return queue$.pipe(
    filter(({ status }) => status === 'live'),
    map(({ name, entries }) => ({ name, entries, own: entries.find(isOwn) })),
    filter((snapshot): snapshot is Snapshot => snapshot.own !== undefined),
    take(1),
  );
}

/**
 * Throws if the queue ahead of the entry exceeds the claim's `maxWaiters` or `maxExpectedWaitMs`. The server's order decides: of entries that join at
 * the same time, exactly the allowed number stays.
 */
function throwIfTooLong(
  { own, entries, name }: Snapshot,
  { maxWaiters = Infinity, maxExpectedWaitMs = Infinity }: InLineOptions,
): void {
  const position = positionsOf(entries).get(own) ?? 0;
  if (position === 0) return;
  if (position > maxWaiters) {
    throw new QueueLockError(
      'QUEUE_FULL',
      `${JSON.stringify(name)}: clients that wait already: ${String(position - 1)}, and maxWaiters is ${String(maxWaiters)}; try again later`,
    );
  }
  const { waitMs = 0 } = expectedWaitAt(entries, entries.indexOf(own));
  if (waitMs > maxExpectedWaitMs) {
    throw new QueueLockError(
      'WAIT_TOO_LONG',
      `${JSON.stringify(name)}: a wait of ${String(Math.round(waitMs))} ms is expected, and maxExpectedWaitMs is ${String(maxExpectedWaitMs)}; try again later`,
    );
  }
}

/** Removes the entries ahead, one after another. Unsubscribing stops further removals. */
function clearTheWay(
  { own, entries, name }: Snapshot,
  reason: string,
  evictions: Evictions,
): Observable<unknown> {
  const admitted = admittedEntries(entries);
  const condemned = inTheWayOf(entries, own).map((victim) => ({
    victim,
    kind: admitted.has(victim) ? ('stolen' as const) : ('overtaken' as const),
  }));
  let wanted = true;
  return defer(() => evictions.evictAll(name, condemned, { reason, goesOn: () => wanted })).pipe(
    finalize(() => (wanted = false)),
  );
}
