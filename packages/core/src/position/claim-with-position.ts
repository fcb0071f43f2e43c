// Folder "position": reports the position of an entry in its queue, and estimates its wait.
// claim-with-position.ts (this file) adds the position to the states of a claim. watch-position.ts watches the position of any entry.
// latest.ts iterates over the latest states.

import type { ClaimState } from '../api/claim-state.ts';
import { boundToCaller, inCallerContext } from '../base/caller-context.ts';
import type { Ownership } from '../api/hold-api.ts';
import { failed } from '../claim/steps.ts';
import { jsonable } from '../base/jsonable.ts';
import { latestOf } from './latest.ts';
import type { PositionStream, PositionedClaimState, QueuePosition } from '../api/position-api.ts';
import { POSITION_INTERVAL_MS, positionsIn } from './watch-position.ts';
import { acquire, claim } from '../claim/lock.ts';
import type { ClaimContext } from '../claim/claim-context.ts';
import type { AcquireOptions } from '../api/options.ts';
import type { QueueEntry } from '../api/queue-api.ts';
import { Observable, Subscription, tap } from '../base/rx.ts';
import { visible } from '../handover/visible.ts';
import { waitUntilHeld } from '../claim/wait-until-held.ts';
import type { ClaimRequest } from '../entry/new-entry.ts';

/** The data from which the position and the expected wait of a claim are computed, besides the claim itself. */
interface PositionRequest {
  readonly name: string;
  /** Name of the option or method that requests the position, for messages. */
  readonly requested: string;
  readonly typicalHoldMs: number | undefined;
}

type Queued = Extract<ClaimState, { readonly status: 'queued' }>;

/** Adds the position of the claim's entry to the claim's states, from joining to the grant. Watches the queue only while the claim waits. */
export function positionsOfClaim(
  { watch, clock }: Pick<ClaimContext, 'watch' | 'clock'>,
  claim$: Observable<ClaimState>,
  { name, requested, typicalHoldMs }: PositionRequest,
): PositionStream {
  const queue$ = watch(name, { apartMs: POSITION_INTERVAL_MS }).pipe(visible(requested));
  const line$ = new Observable<PositionedClaimState>((subscriber) => {
    let queued: Queued | undefined;
    let place: QueuePosition | undefined;
    let places = new Subscription();
    const tell = (): void => {
      if (queued && place) subscriber.next(inLine(queued, place));
    };
    const fail = (cause: unknown): void => {
      subscriber.next(failed(cause));
      subscriber.complete();
    };
    function follow({ id, order }: Queued): Subscription {
      // Compares the order number too, because an entry with a caller-defined value shows no id. An order number is unique within a queue at any
      // moment.
      const isOwn = (entry: QueueEntry): boolean => entry.order === order && (entry.id ?? id) === id;
      const next = (now: QueuePosition | undefined): void => {
        place = now ?? place;
        tell();
      };
      return positionsIn(queue$, isOwn, { clock, typicalHoldMs }).subscribe({ next, error: fail });
    }
    const next = (state: ClaimState): void => {
      const isAsBefore = state.status === 'queued' && state.id === queued?.id;
      if (!isAsBefore) {
        places.unsubscribe();
        place = undefined;
      }
      queued = state.status === 'queued' ? state : undefined;
      if (isAsBefore) tell();
      else if (state.status === 'queued') subscriber.add((places = follow(state)));
      else subscriber.next(state);
    };
    const complete = (): void => {
      subscriber.complete();
    };
    subscriber.add(claim$.subscribe({ next, error: fail, complete }));
  });
  const positions$ = inCallerContext(line$);
  return Object.assign(positions$, { [Symbol.asyncIterator]: () => latestOf(line$) });
}

/** Waits for the grant, like `acquire`. Calls `onPosition` with each position meanwhile, if it is set. */
export function acquireNotifying(
  context: ClaimContext,
  request: ClaimRequest,
  { onPosition, typicalHoldMs }: Pick<AcquireOptions, 'onPosition' | 'typicalHoldMs'>,
): Promise<Ownership> {
  if (!onPosition) return acquire(context, request);
  const notify = boundToCaller(onPosition);
  const newEntry = { name: request.queue, requested: 'onPosition', typicalHoldMs };
  const state$ = positionsOfClaim(context, claim(context, request), newEntry).pipe(
    tap((state) => {
      if (state.status !== 'queued') return;
      const { position, expectedWaitMs, basis, stale } = state;
      notify({ position, expectedWaitMs, basis, stale });
    }),
  );
  return waitUntilHeld(state$);
}

function inLine(queued: Queued, place: QueuePosition): PositionedClaimState {
  const { status, order, token, id, answer } = queued;
  const entry = {
    status,
    ...place,
    position: Math.max(1, place.position),
    order,
    token,
    get key(): string {
      return queued.key;
    },
    id,
  };
  return jsonable<PositionedClaimState>(answer ? Object.assign(entry, { answer }) : entry);
}
