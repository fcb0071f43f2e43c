import { randomUUID } from 'node:crypto';
import type { ClaimState } from './api.ts';
import type { Clock } from './clock.ts';
import { enterQueue, type Entry } from './entry.ts';
import { QueueLockError, isQueueLockError } from './errors.ts';
import { mayBegin } from './grant.ts';
import { HeldOwnership } from './ownership.ts';
import {
  EMPTY,
  Subject,
  catchError,
  defer,
  distinctUntilChanged,
  endWith,
  filter,
  finalize,
  map,
  merge,
  of,
  retry,
  startWith,
  switchMap,
  take,
  takeUntil,
  takeWhile,
  type Observable,
} from './rx.ts';
import type { LiveSession } from './session.ts';
import type { EntrySpec, Turn } from './spi.ts';
import { waitLimit, type WaitLimit } from './wait-limit.ts';

/** What is asked for, checked and complete. */
export interface ClaimRequest {
  readonly wish: Omit<EntrySpec, 'id'>;
  /** Of the hold, before it begins. */
  readonly needsMs: number;
  /** A timeout of 0 joins only if nobody is ahead. */
  readonly limit: WaitLimit;
}

/** Where a claim is made. */
export interface ClaimContext {
  readonly session$: Observable<LiveSession>;
  readonly clock: Clock;
  readonly uncleanHandoverDelayMs: number;
  /** Is handed every promise of work that goes on after a claim has ended. */
  readonly afterwards: (work: Promise<void>) => void;
}

/**
 * The story: open a session, enter the queue, follow the turn, own, lose or release. Subscribing starts it,
 * unsubscribing undoes it wherever it is. Never errors.
 */
export function claim(context: ClaimContext, request: ClaimRequest): Observable<ClaimState> {
  return defer(() => {
    const granted$ = new Subject<void>();
    let latest: unknown;
    const trouble = (why: unknown): void => {
      latest = why;
    };
    const patience$ = waitLimit(request.limit, context.clock, () => latest).pipe(takeUntil(granted$));
    const story$ = context.session$.pipe(
      take(1),
      switchMap((live) => join(live, request, { ...context, granted$, trouble })),
      retry({ count: 1, delay: onlyIfTheSessionWasStale }),
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

function join(
  live: LiveSession,
  { wish, limit, needsMs }: ClaimRequest,
  { afterwards, granted$, trouble, ...context }: Surroundings,
): Observable<ClaimState> {
  // A session that ended while timers were late says so here.
  if (live.liveness.remainingMs === 0) return failures(live);
  const spec = { ...wish, id: randomUUID().replaceAll('-', '') };
  const mode = limit.timeoutMs === 0 ? 'try' : 'wait';
  const mayBegin$ = mayBegin(live, spec, { ...context, needsMs });
  return enterQueue(live, spec, { mode, leaving: afterwards, trouble }).pipe(
    switchMap((entry) => follow(live, entry, { name: wish.queue, mayBegin$, granted$ })),
    endWith(failed(new QueueLockError('TIMEOUT', `${JSON.stringify(wish.queue)} is taken (timeoutMs 0)`))),
  );
}

interface Rights {
  readonly name: string;
  /** Emits when the hold may begin, once the turn has come. */
  readonly mayBegin$: Observable<unknown>;
  readonly granted$: Subject<void>;
}

/** Chapters 3 and 4: whose turn it is, and what becomes of the ownership. What ends it arrives as a stream's error. */
function follow(
  live: LiveSession,
  entry: Entry,
  { name, mayBegin$, granted$ }: Rights,
): Observable<ClaimState> {
  let ownership: HeldOwnership | undefined;
  function grant(): Observable<ClaimState> {
    granted$.next();
    ownership = new HeldOwnership(name, entry, live.liveness);
    return hold(ownership, live);
  }
  const turn$ = entry.placement.turns$.pipe(startWith(entry.placement.turn), distinctUntilChanged(sameTurn));
  const state$ = turn$.pipe(
    switchMap((turn) => (turn.admitted ? mayBegin$.pipe(switchMap(grant)) : of(queued(entry, turn)))),
  );
  return merge(failures(live), state$).pipe(
    catchError((error: unknown) => {
      // One entry may hear of it first; all of the session should.
      if (isQueueLockError(error, 'SESSION_LOST')) live.liveness.end(error);
      return of(endOf(ownership, error));
    }),
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

function queued(entry: Entry, turn: Turn): ClaimState {
  const { order, token, key } = entry.placement;
  return { status: 'queued', position: turn.ahead, order, token, key };
}

function failed(error: unknown): ClaimState {
  return { status: 'ended', outcome: 'failed', error };
}

function endOf(ownership: HeldOwnership | undefined, error: unknown): ClaimState {
  if (!ownership) return failed(error);
  if (ownership.givenUp) return { status: 'ended', outcome: 'released' };
  return { status: 'ended', outcome: 'lost', error: ownership.revoke(error) };
}

function sameTurn(before: Turn, now: Turn): boolean {
  return before.admitted === now.admitted && (now.admitted || before.ahead === now.ahead);
}

/** No place was lost when the session turned out to be gone before the entry was in the queue: a new one serves as well. */
function onlyIfTheSessionWasStale(error: unknown): Observable<unknown> {
  if (isQueueLockError(error, 'SESSION_LOST')) return of(true);
  throw error;
}
