// Chapter claim: which steps does one acquisition take, from start to end?
// The sequence (here): session, entry, turn, hold. following handles a claim with an entry; ending reports how and why it ended.

import type { ClaimState } from '../api/api.ts';
import type { Clock } from '../base/clock.ts';
import { traceOf, type AcquireTrace } from '../diagnostics/diagnostics.ts';
import type { Closing } from '../work/closing.ts';
import { enterQueue, type Enqueue } from '../entry/entry.ts';
import { failed, isOfStaleSession, isOvertaken } from './ending.ts';
import { QueueLockError, detailOf, invalidArgument } from '../api/errors.ts';
import type { Evictions } from '../handover/evictions.ts';
import { follow } from './following.ts';
import type { HoldTimes } from '../turn/hold-times.ts';
import { leadingTo } from '../base/leading-to.ts';
import { throwIfMismatched } from '../entry/limit.ts';
import { Moment } from '../base/moment.ts';
import { ofLock } from './of-lock.ts';
import { OwnLabel } from '../entry/own-label.ts';
import type { QueueState } from '../api/queue-api.ts';
import { Observable, Subscription, take, throwIfEmpty } from '../base/rx.ts';
import type { LiveSession } from '../session/session.ts';
import type { BackendInfo, ObserveOptions } from '../api/spi.ts';
import { UNANSWERED, limitedBy } from '../work/wait-limit.ts';
import { wishOf, type ClaimRequest } from '../entry/wish.ts';

/** The client-wide dependencies of a claim. */
export interface ClaimContext {
  readonly session$: Observable<LiveSession>;
  /** Returns why the session is not open yet; `undefined` when no claim waits for one. */
  readonly openingTrouble: () => unknown;
  readonly clock: Clock;
  readonly info: BackendInfo;
  readonly lockDelayMs: number;
  readonly watch: (name: string, looking?: ObserveOptions) => Observable<QueueState>;
  readonly evictions: Evictions;
  readonly holdTimes: HoldTimes;
  readonly closing: Closing;
  /** Receives every promise of work that continues after a claim has ended. */
  readonly afterwards: (work: Promise<void>) => void;
  /** Custom join function for claims made together with others. It coordinates the join and reports failures. */
  readonly enqueue?: Enqueue;
  readonly trouble?: (why: unknown) => void;
}

/**
 * Runs a claim: opens a session, joins the queue, waits for admission, holds, then loses or releases. Subscribing starts it; unsubscribing undoes
 * it at any stage. Never errors.
 */
export function claim(context: ClaimContext, request: ClaimRequest): Observable<ClaimState> {
  return new Observable((subscriber) => {
    let latest: unknown;
    const trouble = (why: unknown): void => {
      latest = why;
      context.trouble?.(why);
    };
    const granted = new Moment();
    const trace = traceOf(request, context);
    const waiting = {
      clock: context.clock,
      what: JSON.stringify(request.queue),
      granted,
      trouble: () => latest ?? context.openingTrouble(),
    };
    const story$ = limitedBy<ClaimState>(
      request.patience,
      waiting,
    )(attempts(request, { context, granted, trouble, trace }));
    const tell = (state: ClaimState): void => {
      if (state.status === 'queued') trace?.stoodInLine(state);
      if (state.status !== 'ended') {
        subscriber.next(state);
        return;
      }
      if (state.outcome === 'failed') trace?.failed(state.error);
      subscriber.next(inWords(state, request, context.info.endpoint));
      subscriber.complete();
    };
    const error = (cause: unknown): void => {
      tell(failed(cause));
    };
    if (trace) subscriber.add(() => trace.left());
    tell({ status: 'joining' });
    // A wait ends when the client begins to close; a hold continues.
    const endWait = (why: QueueLockError): void => {
      if (!granted.hasCome) error(closedOf(request.queue, why));
    };
    if (!subscriber.closed) subscriber.add(context.closing.tell(endWait));
    const begin = (): void => {
      if (!subscriber.closed) subscriber.add(story$.subscribe({ next: tell, error }));
    };
    if (trace) trace.begin(begin);
    else begin();
  });
}

/** Adds the lock's name to the error of a failed claim. The reason of the caller's own signal stays unchanged. */
function inWords(
  state: Extract<ClaimState, { readonly status: 'ended' }>,
  { queue, patience }: ClaimRequest,
  endpoint: string,
): ClaimState {
  if (state.outcome !== 'failed' || state.error === patience.signal?.reason) return state;
  const told = ofLock(state.error, { name: queue, endpoint });
  return told === state.error ? state : failed(told);
}

function closedOf(name: string, why: QueueLockError): QueueLockError {
  return new QueueLockError('CLOSED', `${JSON.stringify(name)}: ${detailOf(why)}`, {
    reason: 'client-closed',
  });
}

interface Surroundings {
  readonly context: ClaimContext;
  readonly granted: Moment;
  readonly trouble: (why: unknown) => void;
  readonly trace: AcquireTrace | undefined;
}

/** Joins the queue, and joins again when the first attempt lost no position. */
function attempts(request: ClaimRequest, around: Surroundings): Observable<ClaimState> {
  return new Observable((subscriber) => {
    let attempt: Subscription;
    const next = (state: ClaimState): void => {
      subscriber.next(state);
    };
    function begin(asked: ClaimRequest, { mayBeStale }: { readonly mayBeStale: boolean }): void {
      const error = (cause: unknown): void => {
        attempt.unsubscribe();
        if (mayBeStale && isOfStaleSession(cause)) begin(asked, { mayBeStale: false });
        else if (isOvertaken(cause, around.context.enqueue))
          begin({ ...request, id: undefined }, { mayBeStale: true });
        else subscriber.error(cause);
      };
      subscriber.add((attempt = new Subscription()));
      const joined$ = around.context.session$.pipe(leadingTo((live) => join(live, asked, around)));
      attempt.add(joined$.subscribe({ next, error }));
    }
    begin(request, { mayBeStale: true });
  });
}

function join(live: LiveSession, request: ClaimRequest, around: Surroundings): Observable<ClaimState> {
  // Detects a session that ended while timers were late.
  if (live.liveness.remainingMs === 0) live.liveness.ending.throwIfAborted();
  const { limit } = request;
  if (limit.fixed !== undefined) return enter(live, { request, limit: limit.fixed }, around);
  return limit.now$.pipe(
    take(1),
    throwIfEmpty(() => invalidArgument('limit', 'a stream without a value', 'has a present value')),
    leadingTo((now) => enter(live, { request, limit: now }, around)),
  );
}

/** Enters the queue (step 2) and follows the entry. */
function enter(
  live: LiveSession,
  { request, limit }: { readonly request: ClaimRequest; readonly limit: number },
  around: Surroundings,
): Observable<ClaimState> {
  const { context, trouble } = around;
  const { afterwards, enqueue, holdTimes } = context;
  const { spec, label } = wishOf(request, { limit, typicalHoldMs: holdTimes.typical(request.queue) });
  const mode = request.patience.timeoutMs === 0 ? 'try' : 'wait';
  const ownLabel = new OwnLabel(live, spec, label);
  trouble(UNANSWERED);
  return enterQueue(live, spec, { mode, leaving: afterwards, trouble, enqueue }).pipe(
    leadingTo((entry) => {
      throwIfMismatched(request.limit, entry);
      return follow({ live, entry, label: ownLabel }, request, around);
    }),
  );
}
