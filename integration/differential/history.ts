import type { QueueEntry } from '@queuelock/core';
import type { AttemptEvent, ChaosEvent, Terms } from '@queuelock/harness/check/event';
import { checkSafety } from '@queuelock/harness/check';
import type { Finding } from '@queuelock/harness/check/finding';
import { runOf } from '@queuelock/harness/check/history';
import { stampNow, type EventInput } from '@queuelock/harness/check/worker-record';

/**
 * An event of a claim as its client reports it. The class `Attempts` adds the time, the client, the queue and
 * the number of the attempt.
 */
type Report = AttemptEvent extends infer E
  ? E extends AttemptEvent
    ? Omit<E, 't' | 'who' | 'queue' | 'n'>
    : never
  : never;

/**
 * The properties that identify an entry in its queue. The entry's key is not used, because reading the key of
 * a claim or hold has a side effect on etcd.
 */
export type Place = Pick<QueueEntry, 'order'> & { readonly token: bigint };

/** An entry that a claim had at some time. */
interface KnownEntry {
  readonly queue: string;
  readonly order: bigint;
  readonly session: string;
}

/** The events of one run, which the checker of the harness judges. */
export class History {
  readonly #events: ChaosEvent[] = [];
  readonly #entries: KnownEntry[] = [];
  readonly #removals: (readonly [isRemoved: (entry: KnownEntry) => boolean, t: string])[] = [];

  tell(who: string, input: EventInput): void {
    this.#events.push({ t: stampNow(), who, ...input });
  }

  add(entry: KnownEntry): void {
    this.#entries.push(entry);
  }

  /**
   * Records that another client or an operator may remove the entries that match from now on, including
   * entries that become known later.
   */
  removal(isRemoved: (entry: KnownEntry) => boolean): void {
    this.#removals.push([isRemoved, stampNow()]);
  }

  /**
   * @param noticedWithinMs how long a holder may believe that it holds after another client removed its
   *   entry, in milliseconds
   */
  judge(noticedWithinMs: number): readonly Finding[] {
    const faults = this.#removals.map(([isRemoved, t], at): ChaosEvent => {
      const entries = this.#entries
        .filter(isRemoved)
        .map(({ queue, order }) => ({ key: keyOf(queue, order) }));
      return { t, who: 'harness', ev: 'fault', number: at + 1, what: 'removed', target: 'store', entries };
    });
    return checkSafety(runOf([...this.#events, ...faults]), { evictionMs: noticedWithinMs });
  }
}

function keyOf(queue: string, order: bigint): string {
  return `${queue}/${order}`;
}

/** One client of a script as the history records it: the numbers of its attempts, and its present session. */
export class Life {
  readonly who: string;
  readonly history: History;
  session = '';
  #attempts = 0;

  constructor(
    who: string,
    history: History,
    { ttlMs, safetyMarginMs }: { ttlMs: number; safetyMarginMs: number },
  ) {
    this.who = who;
    this.history = history;
    history.tell(who, { ev: 'started', pid: process.pid, ttlMs, safetyMarginMs });
  }

  tell(input: EventInput): void {
    if ('provenMs' in input) this.session = input.session;
    this.history.tell(this.who, input);
  }

  nextNumbers(count: number): readonly number[] {
    this.#attempts += count;
    return Array.from({ length: count }, (_, at) => this.#attempts - count + 1 + at);
  }
}

/** The attempts of one claim in the history: one for each name, and others when the claim joins again. */
export class Attempts {
  readonly #life: Life;
  readonly #queues: readonly string[];
  readonly #terms: Terms;
  #numbers: readonly number[] = [];
  #places: readonly Place[] = [];
  #isHeld = false;
  #isOver = false;
  /** Whether the client has requested a release of its hold that the store has not confirmed yet. */
  #isReleased = false;

  constructor(life: Life, queues: readonly string[], terms: Terms) {
    this.#life = life;
    this.#queues = queues;
    this.#terms = terms;
    this.#begin();
  }

  /** Order number of the claim's present or last entry in the first of its queues. */
  get order(): bigint | undefined {
    return this.#places[0]?.order;
  }

  placed(places: readonly Place[]): void {
    if (this.#isOver || places.every(({ order }, at) => order === this.#places[at]?.order)) return;
    if (this.#places.length > 0) {
      this.over('ENTRY_LOST');
      this.#begin();
    }
    this.#places = places;
    const { session, history } = this.#life;
    for (const [at, { order }] of places.entries()) history.add({ queue: this.#queues[at]!, order, session });
    this.#each(({ order, token }, queue) => {
      return { ev: 'queued', order: String(order), token: String(token), key: keyOf(queue, order), session };
    });
  }

  held(places: readonly Place[], remainingMs: number): void {
    this.placed(places);
    if (this.#isHeld || this.#isOver) return;
    this.#isHeld = true;
    this.#each(({ order, token }) => {
      return { ev: 'acquired', order: String(order), token: String(token), remainingMs };
    });
  }

  /** Records the beginning and the end of a change to a shared hold. */
  downgrade(ev: 'downgrading' | 'downgraded'): void {
    if (this.#isHeld && !this.#isOver) this.#all({ ev });
  }

  /** Records that the client ends the claim. Call it before the client sends its request. */
  ends(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isReleased = this.#isHeld;
    this.#all({ ev: this.#isHeld ? 'released' : 'cancelled' });
  }

  /**
   * Records that the store has confirmed the release of the hold. Records nothing for a claim that ended
   * before it held.
   */
  left(): void {
    if (this.#isReleased) this.#all({ ev: 'left' });
    this.#isReleased = false;
  }

  /** Records that the claim ended although its client did not end it. */
  over(code: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#all(this.#isHeld ? { ev: 'revoked', reason: code } : { ev: 'failed', code, message: code });
  }

  #begin(): void {
    this.#isHeld = false;
    this.#isOver = false;
    this.#numbers = this.#life.nextNumbers(this.#queues.length);
    const together = this.#queues.length > 1 ? { together: this.#numbers } : {};
    this.#all({ ev: 'enqueue', terms: this.#terms, ...together });
  }

  #each(report: (place: Place, queue: string) => Report): void {
    for (const [at, place] of this.#places.entries()) this.#tell(at, report(place, this.#queues[at]!));
  }

  #all(report: Report): void {
    for (const at of this.#queues.keys()) this.#tell(at, report);
  }

  #tell(at: number, report: Report): void {
    this.#life.tell({ queue: this.#queues[at]!, n: this.#numbers[at]!, ...report });
  }
}
