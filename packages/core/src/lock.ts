import type { ClaimState } from './api.ts';
import type { Clock } from './clock.ts';
import { enterQueue, type Enqueue, type Entry } from './entry.ts';
import { endedBy, failed, onlyIfOvertaken, onlyIfTheSessionWasStale, type Place } from './ending.ts';
import { QueueLockError, invalidArgument } from './errors.ts';
import type { Evictions } from './evictions.ts';
import { mayBegin } from './grant.ts';
import type { HandoverAnswer } from './hold-api.ts';
import type { HoldTimes } from './hold-times.ts';
import { whileInLine } from './in-line.ts';
import { throwIfMismatched, turnsUnder } from './limit.ts';
import { OwnLabel } from './own-label.ts';
import { HeldOwnership } from './ownership.ts';
import type { QueueState } from './queue-api.ts';
import {
  BehaviorSubject,
  EMPTY,
  Subject,
  catchError,
  defer,
  distinctUntilChanged,
  endWith,
  filter,
  finalize,
  ignoreElements,
  map,
  merge,
  of,
  retry,
  startWith,
  switchMap,
  take,
  takeUntil,
  takeWhile,
  tap,
  throwIfEmpty,
  type Observable,
} from './rx.ts';
import type { LiveSession } from './session.ts';
import type { Turn } from './spi.ts';
import { waitLimit } from './wait-limit.ts';
import { wishOf, type ClaimRequest } from './wish.ts';

/** Where a claim is made. */
export interface ClaimContext {
  readonly session$: Observable<LiveSession>;
  readonly clock: Clock;
  readonly uncleanHandoverDelayMs: number;
  readonly watch: (name: string) => Observable<QueueState>;
  readonly evictions: Evictions;
  readonly holdTimes: HoldTimes;
  /** Is handed every promise of work that goes on after a claim has ended. */
  readonly afterwards: (work: Promise<void>) => void;
  /** Of claims that are made together with others: how they join. */
  readonly enqueue?: Enqueue;
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
    const trouble = (why: unknown): void => {
      latest = why;
    };
    const patience$ = waitLimit(request.patience, context.clock, () => latest).pipe(takeUntil(granted$));
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
    return merge(patience$, story$).pipe(
      catchError((error: unknown) => of(failed(error))),
      startWith<ClaimState>({ status: 'joining' }),
      takeWhile(({ status }) => status !== 'ended', true),
    );
  });
}

interface Surroundings extends Omit<ClaimContext, 'session$'> {
  readonly granted$: Subject<void>;
  readonly trouble: (why: unknown) => void;
}

function join(live: LiveSession, request: ClaimRequest, around: Surroundings): Observable<ClaimState> {
  // A session that ended while timers were late says so here.
  if (live.liveness.remainingMs === 0) return failures(live);
  return request.limit.now$.pipe(
    take(1),
    throwIfEmpty(() => invalidArgument('limit', 'a stream without a value', 'has a present value')),
    switchMap((limit) => enter(live, { request, limit }, around)),
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
    tap((entry) => {
      throwIfMismatched(request.limit, entry);
    }),
    switchMap((entry) => follow({ live, entry, label: ownLabel }, request, around)),
    endWith(failed(new QueueLockError('TIMEOUT', `${JSON.stringify(spec.queue)} is taken (timeoutMs 0)`))),
  );
}

/** Chapters 3 and 4: whose turn it is, and what becomes of the ownership. What ends it arrives as a stream's error. */
function follow(place: Place, request: ClaimRequest, around: Surroundings): Observable<ClaimState> {
  const { live, entry, label } = place;
  const { granted$, evictions, clock, holdTimes } = around;
  const tools = { label, evictions, clock, queue$: defer(() => around.watch(request.queue)) };
  const mayBegin$ = mayBegin(live, entry.spec, { ...around, needsMs: request.needsMs });
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
        ? mayBegin$.pipe(switchMap(() => grant(turn)))
        : answer$.pipe(map((answer) => queued(entry, turn, answer))),
    ),
  );
  const { id } = entry.spec;
  const { key, turn } = entry.placement;
  const inLine$ = whileInLine({ id, key }, request.inLine, tools).pipe(
    tap((answer) => {
      answer$.next(answer);
    }),
    ignoreElements(),
    takeUntil(granted$),
  );
  return merge(failures(live), turn.admitted ? EMPTY : inLine$, state$).pipe(
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

function failures(live: LiveSession): Observable<never> {
  return live.liveness.health$.pipe(switchMap(() => EMPTY));
}

function queued(entry: Entry, turn: Turn, answer: HandoverAnswer | undefined): ClaimState {
  const { order, token, key } = entry.placement;
  const place = { status: 'queued', position: turn.ahead, order, token, key, id: entry.spec.id } as const;
  return answer ? { ...place, answer } : place;
}

function sameTurn(before: Turn, now: Turn): boolean {
  return before.admitted === now.admitted && (now.admitted || before.ahead === now.ahead);
}
