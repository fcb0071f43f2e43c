import { admittedOf } from './admitted.ts';
import type { Clock } from './clock.ts';
import { isDefinite } from './definite.ts';
import { QueueLockError, detailOf, isQueueLockError } from './errors.ts';
import { inTheWayOf, type Evictions } from './evictions.ts';
import { expectedWait } from './expected-wait.ts';
import type { HandoverAnswer } from './hold-api.ts';
import type { ClaimOptions } from './options.ts';
import type { OwnLabel } from './own-label.ts';
import type { QueueEntry, QueueState } from './queue-api.ts';
import { answersTo } from './requests.ts';
import {
  EMPTY,
  concatMap,
  filter,
  from,
  ignoreElements,
  map,
  merge,
  take,
  tap,
  type Observable,
} from './rx.ts';

/** What a claim does while it waits, if anything. */
export type InLineOptions = Pick<ClaimOptions, 'maxWaiters' | 'maxExpectedWaitMs' | 'steal' | 'request'>;

/** Whether it does nothing but wait. */
export function asksNothing(options: InLineOptions): boolean {
  return Object.keys(options).length === 0;
}

/** What doing so needs. */
export interface InLineTools {
  readonly label: OwnLabel;
  readonly queue$: Observable<QueueState>;
  readonly evictions: Evictions;
  readonly clock: Clock;
}

/** An entry as the queue shows it: an earlier one may have had its key. */
type Place = Pick<QueueEntry, 'key' | 'order'>;

/** The own entry, and the queue at a moment when it stood there. */
interface Picture {
  readonly own: QueueEntry;
  readonly entries: readonly QueueEntry[];
  readonly name: string;
}

/** What goes on while an entry waits. Emits answers to its request; errors when it should rather not wait. */
export function whileInLine(
  { id, ...place }: { readonly id: string } & Place,
  options: InLineOptions,
  tools: InLineTools,
): Observable<HandoverAnswer> {
  const { steal, request } = options;
  const picture$ = firstPicture(place, visible(tools.queue$, options));
  const admission$ = picture$.pipe(
    tap((picture) => {
      throwIfTooLong(picture, id, options);
    }),
    ignoreElements(),
  );
  const theft$ = picture$.pipe(
    concatMap((picture) => (steal ? clearTheWay(picture, steal.reason, tools.evictions) : EMPTY)),
    ignoreElements(),
  );
  const isAdmissionLimited = options.maxWaiters !== undefined || options.maxExpectedWaitMs !== undefined;
  return merge(
    isAdmissionLimited ? admission$ : EMPTY,
    steal ? theft$ : EMPTY,
    request ? answersTo({ id, withinMs: request.withinMs }, tools) : EMPTY,
  );
}

/** The states of the queue; errors when it cannot be seen and will not be: nothing of what is asked can be done then. */
function visible(queue$: Observable<QueueState>, options: InLineOptions): Observable<QueueState> {
  return queue$.pipe(
    tap(({ name, trouble }) => {
      if (!isDefinite(trouble)) return;
      const asked = Object.keys(options).filter((option) => option !== 'request');
      throw new QueueLockError(
        isQueueLockError(trouble) ? trouble.code : 'INVALID_ARGUMENT',
        `${JSON.stringify(name)}: ${asked.join(' and ')} needs to see the queue, which cannot be seen: ${detailOf(trouble)}`,
        { cause: trouble },
      );
    }),
  );
}

function firstPicture(place: Place, queue$: Observable<QueueState>): Observable<Picture> {
  const isOwn = ({ key, order }: QueueEntry): boolean => key === place.key && order === place.order;
  return queue$.pipe(
    filter(({ status }) => status === 'live'),
    map(({ name, entries }) => ({ name, entries, own: entries.find(isOwn) })),
    filter((picture): picture is Picture => picture.own !== undefined),
    take(1),
  );
}

/** By the server's order: of those who join at the same time, just as many stay as were allowed. */
function throwIfTooLong(
  { own, entries, name }: Picture,
  id: string,
  { maxWaiters = Infinity, maxExpectedWaitMs = Infinity }: InLineOptions,
): void {
  const admitted = admittedOf(entries);
  if (admitted.has(own)) return;
  const waiting = entries.filter((entry) => entry.order <= own.order && !admitted.has(entry)).length;
  if (waiting > maxWaiters) {
    throw new QueueLockError(
      'QUEUE_FULL',
      `${JSON.stringify(name)}: ${String(waiting - 1)} wait already, and maxWaiters is ${String(maxWaiters)}; try again later`,
    );
  }
  // One with a value of its own does not tell its id.
  const known = entries.map((entry) => (entry === own ? { ...own, id } : entry));
  const { waitMs = 0 } = expectedWait(known, id);
  if (waitMs > maxExpectedWaitMs) {
    throw new QueueLockError(
      'WAIT_TOO_LONG',
      `${JSON.stringify(name)}: a wait of ${String(Math.round(waitMs))} ms is expected, and maxExpectedWaitMs is ${String(maxExpectedWaitMs)}; try again later`,
    );
  }
}

/** One after the other; whoever unsubscribes removes no more. */
function clearTheWay(
  { own, entries, name }: Picture,
  reason: string,
  evictions: Evictions,
): Observable<unknown> {
  const admitted = admittedOf(entries);
  return from(inTheWayOf(entries, own)).pipe(
    concatMap((entry) =>
      evictions.evict(name, entry, { kind: admitted.has(entry) ? 'stolen' : 'overtaken', reason }),
    ),
  );
}
