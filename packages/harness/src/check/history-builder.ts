import type { ChaosEvent, RemovedEntry, Resource, Terms } from './event.ts';

export const TTL_MS = 5_000;
export const MARGIN_MS = 200;
/** Milliseconds from the sending of a heartbeat until the end of the time that it proves. */
export const PROVEN_MS: number = TTL_MS * 0.99 - MARGIN_MS;

type EventSpec<E = ChaosEvent> = E extends ChaosEvent ? Omit<E, 't' | 'who'> : never;

/** The times of an attempt's events in milliseconds. An event whose time is absent did not happen. */
export interface Steps {
  readonly n?: number;
  readonly queue?: string;
  readonly token: number | bigint;
  readonly order?: number | bigint;
  readonly key?: string;
  readonly session?: string;
  readonly terms?: Terms;
  readonly together?: readonly number[];
  readonly enqueue?: number;
  readonly queued?: number;
  readonly acquired?: number;
  /** Remaining proven time at the grant, in milliseconds. Default 1,000. */
  readonly remainingMs?: number;
  readonly downgrading?: number;
  readonly revoked?: number;
  readonly released?: number;
  readonly left?: number;
  readonly cancelled?: number;
  readonly failed?: number;
}

/**
 * Builds the recorded events of a run, for tests. Times are milliseconds, with fractions down to nanoseconds.
 */
export class HistoryBuilder {
  readonly events: ChaosEvent[] = [];

  tell(who: string, ms: number, event: EventSpec): this {
    this.events.push({ t: stamp(ms), who, ...event });
    return this;
  }

  /** Adds a worker with the session `<who>-session`, and the heartbeats that it sends at these times. */
  worker(who: string, ...beatsSentAt: number[]): this {
    this.tell(who, -10, { ev: 'started', pid: 1, ttlMs: TTL_MS, safetyMarginMs: MARGIN_MS });
    for (const sentAt of beatsSentAt) this.beat(who, sentAt);
    return this;
  }

  /** Adds a heartbeat of the worker's session, which is confirmed 3 ms after it was sent. */
  beat(who: string, sentAt: number): this {
    const beat = { session: `${who}-session`, sentAt: stamp(sentAt), provenMs: TTL_MS } as const;
    return this.tell(who, sentAt + 3, { ev: 'beat', ...beat });
  }

  attempt(who: string, steps: Steps): this {
    const { n = 1, queue = 'q', token, order = token, key = `${queue}/${who}-${n}` } = steps;
    const { session = `${who}-session` } = steps;
    const place = { token: String(token), order: String(order) };
    const of = { queue, n };
    const enqueue = steps.enqueue ?? (steps.queued === undefined ? undefined : steps.queued - 1);
    const step = (ms: number | undefined, event: EventSpec): void => {
      if (ms !== undefined) this.tell(who, ms, event);
    };
    const { terms, together } = steps;
    step(enqueue, { ev: 'enqueue', ...of, ...(terms && { terms }), ...(together && { together }) });
    step(steps.queued, { ev: 'queued', key, session, ...place, ...of });
    step(steps.acquired, { ev: 'acquired', remainingMs: steps.remainingMs ?? 1_000, ...place, ...of });
    step(steps.downgrading, { ev: 'downgrading', ...of });
    step(steps.revoked, { ev: 'revoked', reason: 'heartbeat-timeout', ...of });
    step(steps.released, { ev: 'released', ...of });
    step(steps.left ?? steps.released, { ev: 'left', ...of });
    step(steps.cancelled, { ev: 'cancelled', ...of });
    step(steps.failed, { ev: 'failed', code: 'SESSION_LOST', message: '', ...of });
    return this;
  }

  /** Removes all events of the kind `ev` from the history. */
  without(ev: ChaosEvent['ev']): this {
    this.events.splice(0, Infinity, ...this.events.filter((event) => event.ev !== ev));
    return this;
  }

  read(who: string, ms: number, held: boolean): this {
    return this.tell(who, ms, { ev: 'look', held, queue: 'q', n: 1 });
  }

  effect(who: string, ms: number, period: Wrote): this {
    const { token, answered = ms + 1, ...rest } = period;
    return this.tell(who, ms, {
      ev: 'effect',
      queue: 'q',
      n: 1,
      resource: 'store',
      number: 1,
      believed: true,
      outcome: 'accepted',
      token: String(token),
      answeredAt: stamp(answered),
      ...rest,
    });
  }

  harness(ms: number, event: EventSpec): this {
    return this.tell('harness', ms, event);
  }

  fault(number: number, period: Did): this {
    const { from, to, ...what } = period;
    this.harness(from, { ev: 'fault', number, ...what });
    return to === undefined ? this : this.harness(to, { ev: 'healed', number });
  }

  /** Adds the event `calm` (the end of all faults), the clean exit of these workers, and the end of the run. */
  close(ms: number, ...workers: string[]): this {
    this.harness(ms - 10, { ev: 'calm' });
    for (const worker of workers) {
      this.tell(worker, ms - 2, { ev: 'closed', loopDelayMs: 3 });
      this.harness(ms - 1, { ev: 'exited', worker, clean: true, tookMs: 1 });
    }
    return this.harness(ms, { ev: 'end' });
  }
}

interface Did {
  readonly what: string;
  readonly target: string;
  readonly entries?: readonly RemovedEntry[];
  readonly from: number;
  readonly to?: number;
}

interface Wrote {
  readonly token: number | bigint;
  readonly answered?: number;
  readonly n?: number;
  readonly queue?: string;
  readonly resource?: Resource;
  readonly number?: number;
  readonly believed?: boolean;
  readonly outcome?: 'accepted' | 'refused' | 'unknown';
}

/**
 * Converts milliseconds since the start of the history to a stamp. The start is a large number, like the
 * numbers that `process.hrtime` returns.
 */
export function stamp(ms: number): string {
  return String(1_234_567_890_123_456_789n + BigInt(Math.round(ms * 1e6)));
}
