import type { AttemptEvent, ChaosEvent, HarnessEvent, LifeEvent, Resource } from './event.ts';
import type { Finding } from './finding.ts';
import { holdsOf } from './holds.ts';
import { LifeBook } from './life-book.ts';
import { beginOf, removalsOf } from './removals.ts';
import {
  Attempt,
  emptyQueue,
  noEffects,
  type EffectCounts,
  type Fault,
  type Moment,
  type Queue,
  type Run,
} from './run.ts';

type Once =
  | 'enqueue'
  | 'queued'
  | 'acquired'
  | 'downgrading'
  | 'downgraded'
  | 'revoked'
  | 'released'
  | 'left'
  | 'cancelled'
  | 'failed';

/**
 * Reduces a history, event by event, to the data that the rules need. The events of one process must be in the order in
 * which that process recorded them. Events of different processes may be mixed.
 */
export class Recorder {
  readonly #lives = new LifeBook({
    moment: (stamp) => this.#moment(stamp),
    odd: (at, message) => this.#odd(undefined, at, message),
  });
  readonly #queues = new Map<string, Queue>();
  readonly #faults = new Map<number, Fault>();
  readonly #leftOvers: { kind: string; what: string; at: number }[] = [];
  readonly #oddities: Finding[] = [];
  readonly #torn: string[] = [];
  readonly #effects: Record<Resource, EffectCounts> = {
    store: noEffects(),
    sql: noEffects(),
    log: noEffects(),
  };
  #origin: bigint | undefined;
  #first = Infinity;
  #last = -Infinity;
  #events = 0;
  #calm: Moment;
  #end: Moment;

  take(event: ChaosEvent): void {
    const at = this.#moment(event.t);
    this.#events++;
    this.#first = Math.min(this.#first, at);
    this.#last = Math.max(this.#last, at);
    if ('queue' in event) this.#takeAttempt(event, at);
    else if (event.who === 'harness') this.#takeHarness(event as HarnessEvent, at);
    else this.#lives.take(event as LifeEvent, at);
  }

  /** Records that the last line in the history of the process `who` is incomplete. */
  tear(who: string): void {
    this.#torn.push(who);
  }

  /** Returns the run. It must be called once, after all events. */
  finish(): Run {
    const lives = this.#lives.finish();
    const killed = new Set(lives.flatMap((life) => (life.killed === undefined ? [] : [life.who])));
    const removals = removalsOf(this.#faults.values());
    for (const queue of this.#queues.values()) {
      for (const attempt of queue.attempts) attempt.removing = beginOf(removals, attempt);
      queue.line = queue.attempts
        .filter(({ token }) => token !== undefined)
        .sort((a, b) => Number((a.token ?? 0n) - (b.token ?? 0n)));
      for (const [place, attempt] of queue.line.entries()) attempt.place = place;
      queue.holds = holdsOf(queue.attempts);
    }
    return {
      lives,
      queues: [...this.#queues.values()],
      faults: [...this.#faults.values()],
      effects: this.#effects,
      leftOvers: this.#leftOvers,
      calm: this.#calm,
      end: this.#end,
      span: { from: this.#first, to: this.#last },
      events: this.#events,
      torn: this.#torn.length,
      brokenOff: this.#torn.filter((who) => !killed.has(who)),
      oddities: this.#oddities,
      stampOf: (moment) => this.#stampOf(moment),
      momentOf: (stamp) => this.#moment(stamp),
    };
  }

  #takeAttempt(event: AttemptEvent, at: number): void {
    const attempt = this.#attemptOf(event, this.#queueOf(event.queue), at);
    switch (event.ev) {
      case 'doubt':
      case 'sure':
        return;
      case 'look':
        if (event.held) attempt.believe(at);
        return;
      case 'effect':
        this.#takeEffect(event, attempt, at);
        return;
      case 'queued':
        if (attempt.session !== event.session) attempt.joinAnew();
        attempt.session = event.session;
        attempt.key = event.key;
        this.#place(event, attempt, at);
        break;
      case 'acquired':
        attempt.hasNoTimeLeft = event.remainingMs <= 0;
        this.#place(event, attempt, at);
        break;
      case 'revoked':
        attempt.why = event.reason;
        break;
      case 'failed':
        attempt.why = event.code;
        break;
      case 'enqueue':
        attempt.terms = event.terms ?? {};
        attempt.together = event.together ?? [];
        break;
      case 'downgrading':
      case 'downgraded':
      case 'released':
      case 'left':
      case 'cancelled':
    }
    this.#once(event, attempt, at);
  }

  #once(event: AttemptEvent & { readonly ev: Once }, attempt: Attempt, at: number): void {
    if (attempt[event.ev] === undefined) attempt[event.ev] = at;
    else this.#odd(event.queue, at, `${attempt.name} says "${event.ev}" twice`);
  }

  #place(event: { token: string; order: string; queue: string }, attempt: Attempt, at: number): void {
    const token = BigInt(event.token);
    const order = BigInt(event.order);
    if ((attempt.token ?? token) !== token || (attempt.order ?? order) !== order)
      this.#odd(
        event.queue,
        at,
        `${attempt.name} was queued with another order or token than it acquired with`,
      );
    attempt.token ??= token;
    attempt.order ??= order;
  }

  #takeEffect(event: Extract<AttemptEvent, { ev: 'effect' }>, attempt: Attempt, at: number): void {
    const counts = this.#effects[event.resource];
    counts[event.outcome]++;
    if (event.believed) attempt.believe(at);
    if (event.outcome === 'refused' && event.believed) counts.refusedInBelief++;
    const token = BigInt(event.token);
    if (attempt.token !== token)
      this.#odd(
        event.queue,
        at,
        `${attempt.name} writes with token ${token}, its own is ${attempt.token ?? 'none'}`,
      );
    if (event.outcome !== 'accepted') return;
    const answeredAt = this.#moment(event.answeredAt);
    this.#last = Math.max(this.#last, answeredAt);
    this.#queueOf(event.queue).effects[event.resource].add({
      sentAt: at,
      answeredAt,
      token,
      attempt: attempt.index,
    });
  }

  #takeHarness(event: HarnessEvent, at: number): void {
    switch (event.ev) {
      case 'fault':
        this.#faults.set(event.number, { ...event, from: at, to: Infinity });
        return;
      case 'healed':
        this.#heal(event.number, at);
        return;
      case 'left-over':
        this.#leftOvers.push({ kind: event.kind, what: event.what, at });
        return;
      case 'calm':
        this.#calm = at;
        return;
      case 'end':
        this.#end = at;
        return;
      case 'killed':
      case 'frozen':
      case 'thawed':
      case 'exited':
        this.#lives.hear(event);
    }
  }

  #heal(number: number, at: number): void {
    const fault = this.#faults.get(number);
    if (fault) this.#faults.set(number, { ...fault, to: at });
    else this.#odd(undefined, at, `fault ${number} was healed and had not begun`);
  }

  #attemptOf(event: AttemptEvent, queue: Queue, at: number): Attempt {
    const life = this.#lives.of(event.who, at);
    const known = life.attempts.get(event.n);
    if (known && known.queue !== queue.name)
      this.#odd(queue.name, at, `${known.name} is told of two queues, the other is "${known.queue}"`);
    if (known) return known;
    const attempt = new Attempt(life, { n: event.n, queue: queue.name, index: queue.attempts.length });
    life.attempts.set(event.n, attempt);
    queue.attempts.push(attempt);
    return attempt;
  }

  #queueOf(name: string): Queue {
    const queue = this.#queues.get(name) ?? emptyQueue(name);
    this.#queues.set(name, queue);
    return queue;
  }

  #odd(queue: string | undefined, at: number, message: string): void {
    this.#oddities.push({
      rule: 'story',
      ...(queue !== undefined && { queue }),
      message,
      at: this.#stampOf(at),
      events: [],
    });
  }

  #moment(stamp: string): number {
    const ns = BigInt(stamp);
    return Number(ns - (this.#origin ??= ns));
  }

  #stampOf(moment: number): string {
    return String((this.#origin ?? 0n) + BigInt(Math.round(moment)));
  }
}
