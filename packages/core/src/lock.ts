import type { ClaimState } from './api.ts';
import type { Clock } from './clock.ts';
import type { Closing } from './closing.ts';
import { enterQueue, type Enqueue, type Entry } from './entry.ts';
import { endedBy, failed, onlyIfOvertaken, onlyIfTheSessionWasStale, type Place } from './ending.ts';
import { QueueLockError, detailOf, invalidArgument } from './errors.ts';
import type { Evictions } from './evictions.ts';
import { beginningWith } from './beginning-with.ts';
import { whenItMayBegin } from './grant.ts';
import type { HandoverAnswer } from './hold-api.ts';
import type { HoldTimes } from './hold-times.ts';
import { asksNothing, whileInLine } from './in-line.ts';
import { jsonable } from './jsonable.ts';
import { throwIfMismatched, turnsUnder } from './limit.ts';
import { OwnLabel } from './own-label.ts';
import { HeldOwnership } from './ownership.ts';
import type { QueueState } from './queue-api.ts';
import {
  BehaviorSubject,
  NEVER,
  Subject,
  catchError,
  defer,
  distinctUntilChanged,
  filter,
  finalize,
  ignoreElements,
  map,
  merge,
  of,
  retry,
  switchMap,
  take,
  takeUntil,
  takeWhile,
  tap,
  throwIfEmpty,
  Observable,
  type MonoTypeOperatorFunction,
} from './rx.ts';
import type { LiveSession } from './session.ts';
import type { Turn } from './spi.ts';
import { limitedBy } from './wait-limit.ts';
import { wishOf, type ClaimRequest } from './wish.ts';

/** Where a claim is made. */
export interface ClaimContext {
  readonly session$: Observable<LiveSession>;
  /** Why there is no session yet; `undefined` when nobody waits for one. */
  readonly openingTrouble: () => unknown;
  readonly clock: Clock;
  readonly uncleanHandoverDelayMs: number;
  readonly watch: (name: string) => Observable<QueueState>;
  readonly evictions: Evictions;
  readonly holdTimes: HoldTimes;
  readonly closing: Closing;
  /** Is handed every promise of work that goes on after a claim has ended. */
  readonly afterwards: (work: Promise<void>) => void;
  /** Of claims that are made together with others: how they join, and who hears why they have not yet. */
  readonly enqueue?: Enqueue;
  readonly trouble?: (why: unknown) => void;
}

/**
 * The story: open a session, enter the queue, follow the turn, own, lose or release. Subscribing starts it,
 * unsubscribing undoes it wherever it is. Never errors.
 */
export function claim(context: ClaimContext, request: ClaimRequest): Observable<ClaimState> {
  return defer(() => {
    const granted$ = new Subject<void>();
    let asked = request;
    let latest: unknown;
    let isPlaced = false;
    const trouble = (why: unknown): void => {
      latest = why;
      isPlaced ||= why === undefined;
      context.trouble?.(why);
    };
    const story$ = context.session$.pipe(
      take(1),
      switchMap((live) => join(live, asked, { ...context, granted$, trouble })),
      retry({ count: 1, delay: onlyIfTheSessionWasStale }),
      retry({
        delay: (error) => {
          asked = { ...request, id: undefined };
          return onlyIfOvertaken(error, context.enqueue);
        },
      }),
    );
    const waiting = {
      clock: context.clock,
      what: JSON.stringify(request.queue),
      granted$,
      trouble: () => latest ?? context.openingTrouble() ?? (isPlaced ? undefined : unanswered()),
    };
    return story$.pipe(
      limitedBy(request.patience, waiting),
      unlessClosing(context.closing, { name: request.queue, granted$ }),
      catchError((error: unknown) => of(failed(error))),
      beginningWith<ClaimState>({ status: 'joining' }),
      takeWhile(({ status }) => status !== 'ended', true),
    );
  });
}

/** A wait ends when the client begins to close; a hold goes on. */
function unlessClosing<T>(
  closing: Closing,
  { name, granted$ }: { readonly name: string; readonly granted$: Observable<unknown> },
): MonoTypeOperatorFunction<T> {
  return (source$) =>
    new Observable((subscriber) => {
      const forget = closing.tell((error) => {
        const named = `${JSON.stringify(name)}: ${detailOf(error)}`;
        subscriber.error(new QueueLockError('CLOSED', named, { reason: 'client-closed' }));
      });
      subscriber.add(forget);
      if (subscriber.closed) return;
      subscriber.add(granted$.subscribe({ next: forget, error: forget }));
      source$.subscribe(subscriber);
    });
}

interface Surroundings extends Omit<ClaimContext, 'session$' | 'openingTrouble'> {
  readonly granted$: Subject<void>;
  readonly trouble: (why: unknown) => void;
}

function join(live: LiveSession, request: ClaimRequest, around: Surroundings): Observable<ClaimState> {
  // A session that ended while timers were late says so here.
  if (live.liveness.remainingMs === 0) return NEVER.pipe(failingWith(live));
  const { limit } = request;
  if (limit.fixed !== undefined) return enter(live, { request, limit: limit.fixed }, around);
  return limit.now$.pipe(
    take(1),
    throwIfEmpty(() => invalidArgument('limit', 'a stream without a value', 'has a present value')),
    switchMap((now) => enter(live, { request, limit: now }, around)),
  );
}

/** Chapter 2: my place. */
function enter(
  live: LiveSession,
  { request, limit }: { readonly request: ClaimRequest; readonly limit: number },
  around: Surroundings,
): Observable<ClaimState> {
  const { afterwards, trouble, enqueue, holdTimes } = around;
  const { spec, label } = wishOf(request, { limit, typicalHoldMs: holdTimes.typical(request.queue) });
  const mode = request.patience.timeoutMs === 0 ? 'try' : 'wait';
  const ownLabel = new OwnLabel(live, spec, label);
  return enterQueue(live, spec, { mode, leaving: afterwards, trouble, enqueue }).pipe(
    switchMap((entry) => {
      throwIfMismatched(request.limit, entry);
      return follow({ live, entry, label: ownLabel }, request, around);
    }),
    throwIfEmpty(() => taken(spec.queue)),
  );
}

/** Nothing failed yet, and nothing is known. */
export function unanswered(): QueueLockError {
  return new QueueLockError('UNAVAILABLE', 'the store has not answered yet');
}

/** A try that has found somebody ahead. */
function taken(queue: string): QueueLockError {
  return new QueueLockError('TIMEOUT', `${JSON.stringify(queue)} is taken (timeoutMs 0)`);
}

/** Chapters 3 and 4: whose turn it is, and what becomes of the ownership. What ends it arrives as a stream's error. */
function follow(place: Place, request: ClaimRequest, around: Surroundings): Observable<ClaimState> {
  const { live, entry, label } = place;
  const { granted$, evictions, clock, holdTimes } = around;
  const tools = { label, evictions, clock, queue$: defer(() => around.watch(request.queue)) };
  const answer$ = new BehaviorSubject<HandoverAnswer | undefined>(undefined);
  let ownership: HeldOwnership | undefined;
  function grant(admission: Turn): Observable<ClaimState> {
    granted$.next();
    ownership = new HeldOwnership({ entry, live, tools, turn: admission });
    const begunAt = clock.now();
    return hold(ownership, live).pipe(
      finalize(() => {
        holdTimes.note(request.queue, clock.now() - begunAt);
      }),
    );
  }
  const turn$ = turnsUnder(request.limit, entry, { session: live.session, granted$ });
  const state$ = turn$.pipe(
    distinctUntilChanged(sameTurn),
    switchMap((turn) =>
      turn.admitted
        ? whenItMayBegin(() => grant(turn), { ...around, live, spec: entry.spec, needsMs: request.needsMs })
        : answer$.pipe(map((answer) => queued(entry, turn, answer))),
    ),
  );
  const { turn, key, order } = entry.placement;
  function inLine(): Observable<never> {
    return whileInLine({ id: entry.spec.id, key, order }, request.inLine, tools).pipe(
      tap((answer) => {
        answer$.next(answer);
      }),
      ignoreElements(),
      takeUntil(granted$),
    );
  }
  const isIdle = turn.admitted || asksNothing(request.inLine);
  return (isIdle ? state$ : merge(inLine(), state$)).pipe(
    failingWith(live),
    catchError((error: unknown) => endedBy(error, { place, ownership, evictions })),
    finalize(() => void ownership?.release()),
  );
}

function hold(ownership: HeldOwnership, live: LiveSession): Observable<ClaimState> {
  const state$ = live.liveness.health$.pipe(
    // Not of one that was given up, nor of one whose time ran out on the way here.
    filter(() => ownership.held),
    map((health): ClaimState => ({ status: health === 'alive' ? 'held' : 'doubtful', ownership })),
  );
  const released$ = ownership.released$.pipe(
    map((): ClaimState => ({ status: 'ended', outcome: 'released' })),
  );
  return merge(state$, released$);
}

/** Errors when the session ends, also before the first value. */
function failingWith<T>({ liveness }: LiveSession): MonoTypeOperatorFunction<T> {
  return (source$) =>
    new Observable((subscriber) => {
      const tell = (error: unknown): void => {
        subscriber.error(error);
      };
      subscriber.add(liveness.health$.subscribe({ error: tell }));
      if (!subscriber.closed) source$.subscribe(subscriber);
    });
}

function queued(entry: Entry, turn: Turn, answer: HandoverAnswer | undefined): ClaimState {
  const { order, token, key } = entry.placement;
  const place = { status: 'queued', position: turn.ahead, order, token, key, id: entry.spec.id } as const;
  return jsonable<ClaimState>(answer ? { ...place, answer } : place);
}

function sameTurn(before: Turn, now: Turn): boolean {
  return before.admitted === now.admitted && (now.admitted || before.ahead === now.ahead);
}
