import { admittedEntries } from '../turn/admitted.ts';
import type { EntryLabel } from '../entry/entry-value.ts';
import { inTheWayOf, type Evictions } from './evictions.ts';
import type { HandoverRequest, Ownership } from '../api/hold-api.ts';
import type { HandoverAnswer } from '../api/handover-api.ts';
import type { Clock } from '../base/clock.ts';
import type { OwnLabel } from '../entry/own-label.ts';
import type { QueueEntry, QueueState } from '../api/queue-api.ts';
import {
  concatMap,
  defer,
  filter,
  firstValueFrom,
  from,
  map,
  merge,
  share,
  takeUntil,
  tap,
  type Observable,
} from '../base/rx.ts';
import { after } from '../base/timer.ts';

/** The parts of a hold with which its holder responds to handover requests. */
export interface AnsweringHold {
  readonly own: Ownership;
  /** Emits once when the hold has ended, also to subscribers that come later. */
  readonly ended$: Observable<unknown>;
  /**
   * Writes a changed label to the hold's entry. Rejects with `OWNERSHIP_LOST` when the lock is no longer
   * held.
   */
  readonly tell: (change: (label: EntryLabel) => EntryLabel) => Promise<void>;
}

/** The parts of a client that a holder needs to respond to handover requests. */
export interface AnswerTools {
  readonly label: OwnLabel;
  readonly queue$: Observable<QueueState>;
  readonly evictions: Evictions;
  readonly clock: Clock;
}

// Longest time in milliseconds for which a holder that accepts a request waits until the requester has read its response. A requester that is slow or
// has given up delays the hand-off by no more than this.
const RECEIVED_WITHIN_MS = 1_000;
const KEPT_ANSWERS = 4;

type Asking = QueueEntry & Required<Pick<QueueEntry, 'id' | 'request'>>;

/** Emits each handover request of a waiter behind the hold, and each only once. */
export function requestsTo(hold: AnsweringHold, tools: AnswerTools): Observable<HandoverRequest> {
  const { own, ended$ } = hold;
  return defer(() => {
    const known = new Set<string>();
    const seen$ = live(tools.queue$).pipe(takeUntil(ended$));
    return seen$.pipe(
      concatMap(({ entries }) => from(entries)),
      filter(asks),
      filter(({ id, order, heard }) => order > own.order && !heard.includes(own.id) && !known.has(id)),
      tap(({ id }) => known.add(id)),
      map((entry) => new Request(entry, hold, tools)),
    );
  });
}

function asks(entry: QueueEntry): entry is Asking {
  return entry.request !== undefined && entry.id !== undefined;
}

function live(queue$: Observable<QueueState>): Observable<QueueState> {
  return queue$.pipe(filter(({ status }) => status === 'live'));
}

class Request implements HandoverRequest {
  readonly from: QueueEntry;
  readonly reason: string;
  readonly withinMs: number;
  readonly #id: string;
  readonly #own: Ownership;
  readonly #hold: AnsweringHold;
  readonly #tools: AnswerTools;

  constructor(entry: Asking, hold: AnsweringHold, tools: AnswerTools) {
    this.from = entry;
    this.reason = entry.request.reason;
    this.withinMs = entry.request.withinMs;
    this.#id = entry.id;
    this.#own = hold.own;
    this.#hold = hold;
    this.#tools = tools;
  }

  readonly yieldToQueue = async (): Promise<void> => {
    await this.#respond({ answer: 'yields' });
    await this.#received();
    await this.#own.release();
  };

  /**
   * Accepts the request, and removes the waiters between holder and requester one by one. None of them can be granted meanwhile, because this hold
   * lasts.
   */
  readonly yieldToRequester = async (): Promise<void> => {
    await this.#respond({ answer: 'yields' });
    const entries = await this.#received();
    const admitted = admittedEntries(entries);
    // If another holder or a released entry is ahead of this holder's entry, this holder's entry may be missing
    // in `admitted`. So only entries behind it are removed.
    const isBehind = ({ order }: QueueEntry): boolean => order > this.#own.order;
    const between = inTheWayOf(entries, this.from).filter((entry) => isBehind(entry) && !admitted.has(entry));
    const reason = `the holder yields to ${this.from.owner}: ${this.reason}`.slice(0, 200);
    const condemned = between.map((victim) => ({ victim, kind: 'overtaken' as const }));
    const how = { reason, goesOn: () => this.#own.held };
    const allTried = await this.#tools.evictions.evictAll(this.#own.name, condemned, how);
    if (!allTried) this.#own.throwIfLost();
    await this.#own.release();
  };

  readonly decline = (reason: string): Promise<void> => {
    return this.#respond({ answer: 'declined', reason: reason.slice(0, 200) });
  };

  #respond(answer: HandoverAnswer): Promise<void> {
    return this.#hold.tell((label) => ({
      ...label,
      answers: [...(label.answers ?? []), { to: this.#id, answer }].slice(-KEPT_ANSWERS),
    }));
  }

  /**
   * Waits until the requester has read the response, which is stored in the entry of this hold. Resolves to the entries of the queue at that moment,
   * or to an empty list when the hold has ended.
   */
  async #received(): Promise<readonly QueueEntry[]> {
    const { queue$, clock } = this.#tools;
    const live$ = live(queue$);
    const received$ = live$.pipe(
      filter(({ entries }) => {
        const requester = entries.find(({ id }) => id === this.#id);
        return !requester || requester.heard.includes(this.#own.id);
      }),
    );
    const late$ = after(clock, RECEIVED_WITHIN_MS).pipe(concatMap(() => live$));
    const over$ = this.#hold.ended$.pipe(map(() => undefined));
    const state = await firstValueFrom(merge(over$, received$, late$), { defaultValue: undefined });
    return state?.entries ?? [];
  }
}

/**
 * Emits the response of each holder to the handover request of this claim, and stores that the claim has read it. Emits `ignored` when no response
 * arrived in time. Never completes.
 */
export function answersTo(
  own: { readonly id: string; readonly withinMs: number },
  { label, queue$, clock }: Pick<AnswerTools, 'label' | 'queue$' | 'clock'>,
): Observable<HandoverAnswer> {
  const read = new Set<string>();
  const unread$ = queue$.pipe(
    concatMap(({ entries }) => from(entries)),
    map((entry) => ({ by: entry.id, answer: entry.answers.findLast(({ to }) => to === own.id)?.answer })),
    filter(
      (seen): seen is Answered => seen.answer !== undefined && seen.by !== undefined && !read.has(seen.by),
    ),
  );
  const answered$ = unread$.pipe(
    tap(({ by }) => read.add(by)),
    concatMap(async ({ by, answer }) => {
      // Ignores a failure to store that the response was read. If the session has ended, the claim reports
      // that.
      await label.tell((now) => ({ ...now, heard: [...(now.heard ?? []), by] })).catch(() => false);
      return answer;
    }),
    share(),
  );
  const ignored$ = after(clock, own.withinMs).pipe(
    map((): HandoverAnswer => ({ answer: 'ignored' })),
    takeUntil(answered$),
  );
  return merge(ignored$, answered$);
}

interface Answered {
  readonly by: string;
  readonly answer: HandoverAnswer;
}
