import { inTheWayOf, type Evictions } from './evictions.ts';
import type { HandoverAnswer, HandoverRequest, Ownership } from './hold-api.ts';
import { QueueLockError } from './errors.ts';
import type { Clock } from './clock.ts';
import type { OwnLabel } from './own-label.ts';
import type { QueueEntry, QueueState } from './queue-api.ts';
import {
  concatMap,
  defer,
  filter,
  firstValueFrom,
  from,
  map,
  merge,
  share,
  take,
  takeUntil,
  tap,
  type Observable,
} from './rx.ts';
import { after } from './timer.ts';

/** What answering needs. */
export interface AnswerTools {
  readonly label: OwnLabel;
  readonly queue$: Observable<QueueState>;
  readonly evictions: Evictions;
  readonly clock: Clock;
}

// An answer that nobody has read by then is not waited for: the requester may be slow, or of another mind.
const HEARD_WITHIN_MS = 1_000;
const KEPT_ANSWERS = 4;

type Asking = QueueEntry & Required<Pick<QueueEntry, 'id' | 'request'>>;

/** Requests of those who wait behind, each once. */
export function requestsTo(own: Ownership, tools: AnswerTools): Observable<HandoverRequest> {
  return defer(() => {
    const known = new Set<string>();
    return live(tools.queue$).pipe(
      concatMap(({ entries }) => from(entries)),
      filter(asks),
      filter(({ id, order, heard }) => order > own.order && !heard.includes(own.id) && !known.has(id)),
      tap(({ id }) => known.add(id)),
      map((entry) => new Request(entry, own, tools)),
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
  readonly #tools: AnswerTools;

  constructor(entry: Asking, own: Ownership, tools: AnswerTools) {
    this.from = entry;
    this.reason = entry.request.reason;
    this.withinMs = entry.request.withinMs;
    this.#id = entry.id;
    this.#own = own;
    this.#tools = tools;
  }

  async yieldToQueue(): Promise<void> {
    await this.#answer({ answer: 'yields' });
    await this.#heard();
    await this.#own.release();
  }

  /** While this one holds none of those in between can be let in, so they can be taken out of the way one by one. */
  async yieldToRequester(): Promise<void> {
    await this.#answer({ answer: 'yields' });
    const { entries } = await this.#heard();
    const between = inTheWayOf(entries, this.from).filter(({ order }) => order > this.#own.order);
    const reason = `the holder makes way for ${this.from.owner}: ${this.reason}`.slice(0, 200);
    for (const entry of between) {
      this.#own.throwIfLost();
      await this.#tools.evictions.evict(this.#own.name, entry, { kind: 'overtaken', reason });
    }
    await this.#own.release();
  }

  decline(reason: string): Promise<void> {
    return this.#answer({ answer: 'declined', reason: reason.slice(0, 200) });
  }

  async #answer(answer: HandoverAnswer): Promise<void> {
    this.#own.throwIfLost();
    const there = await this.#tools.label.tell((label) => ({
      ...label,
      answers: [...(label.answers ?? []), { to: this.#id, answer }].slice(-KEPT_ANSWERS),
    }));
    if (!there) throw new QueueLockError('OWNERSHIP_LOST', 'the entry was removed before the answer');
  }

  /** Until the requester has read the answer, which goes with the entry; the queue as it is then. */
  async #heard(): Promise<QueueState> {
    const { queue$, clock } = this.#tools;
    const live$ = live(queue$);
    const heard$ = live$.pipe(
      filter(({ entries }) => {
        const requester = entries.find(({ id }) => id === this.#id);
        return !requester || requester.heard.includes(this.#own.id);
      }),
    );
    const late$ = after(clock, HEARD_WITHIN_MS).pipe(concatMap(() => live$));
    return firstValueFrom(merge(heard$, late$).pipe(take(1)));
  }
}

/** Answers to the own request, one from each holder, acknowledged; `ignored` when none came in time. Never completes. */
export function answersTo(
  own: { readonly id: string; readonly withinMs: number },
  { label, queue$, clock }: Pick<AnswerTools, 'label' | 'queue$' | 'clock'>,
): Observable<HandoverAnswer> {
  const read = new Set<string>();
  const answered$ = queue$.pipe(
    concatMap(({ entries }) => from(entries)),
    map((entry) => ({ by: entry.id, answer: entry.answers.findLast(({ to }) => to === own.id)?.answer })),
    filter(
      (seen): seen is Answered => seen.answer !== undefined && seen.by !== undefined && !read.has(seen.by),
    ),
    concatMap(async ({ by, answer }) => {
      read.add(by);
      // Only an acknowledgement: the end of the session is told elsewhere.
      await label.tell((now) => ({ ...now, heard: [...(now.heard ?? []), by] })).catch(() => false);
      return answer;
    }),
    share(),
  );
  const ignored$ = after(clock, own.withinMs).pipe(
    takeUntil(answered$),
    map((): HandoverAnswer => ({ answer: 'ignored' })),
  );
  return merge(ignored$, answered$);
}

interface Answered {
  readonly by: string;
  readonly answer: HandoverAnswer;
}
