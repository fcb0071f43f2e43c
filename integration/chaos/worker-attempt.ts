import { isQueueLockError, type LockClient } from '@queuelock/core';
import type { Effects } from './effects.ts';
import type { Terms } from '@queuelock/harness/check/event';
import type { Heartbeats } from './instrumented.ts';
import { claimed, type Held, type Seen, type Spot } from './worker-claims.ts';
import { HoldWatch } from './worker-looks.ts';
import { stampNow, type Recorder } from '@queuelock/harness/check/worker-record';
import { Writes } from './worker-writes.ts';
import type { AttemptReport } from './worker-attempt-report.ts';

/**
 * The objects that all attempts of one worker to get a lock share: its lock client, its recorder of events,
 * its heartbeats, and the resources to which it writes.
 */
export interface AttemptSurroundings {
  /** Id of the worker. */
  readonly id: string;
  readonly client: LockClient;
  readonly recorder: Recorder;
  readonly heartbeats: Heartbeats;
  readonly effects: Effects;
}

interface Loudness {
  readonly quiet?: boolean;
}

/** The lock that one claim requests: of one name, or of several names at once. */
export interface Aim {
  readonly queues: readonly [string, ...string[]];
  /**
   * Number of the worker's attempt on the first name. The attempts on the other names have the following
   * numbers.
   */
  readonly n: number;
  readonly terms: Terms;
}

/**
 * A claim of a worker, from the request to its end. The history records each of its events when the worker
 * observes it. For a claim of several names it contains one attempt for each name.
 */
export class Attempt {
  readonly aim: Aim;
  /** Resolves when the claim's entry is in the queue, or when the claim ended before that. */
  readonly placed: Promise<void>;
  /**
   * Resolves with the hold when the claim is granted, or with `undefined` when the claim ended without a
   * hold.
   */
  readonly granted: Promise<Held | undefined>;
  /** Resolves when the claim has ended completely and reports no further events. */
  readonly over: Promise<void>;
  readonly #around: AttemptSurroundings;
  readonly #giveUp = new AbortController();
  #held: Held | undefined;
  #watch: HoldWatch | undefined;
  /** Id of the session that owns the claim's entry. */
  #placedIn: string | undefined;
  #ended = false;
  #suspect = false;
  #downgraded = false;
  #writes: Writes | undefined;
  #place!: () => void;
  #grant!: (held: Held | undefined) => void;
  #end!: () => void;

  constructor(aim: Aim, around: AttemptSurroundings) {
    this.aim = aim;
    this.#around = around;
    this.placed = new Promise((resolve) => (this.#place = resolve));
    this.granted = new Promise((resolve) => (this.#grant = resolve));
    this.over = new Promise((resolve) => (this.#end = resolve));
    const { queues, terms, n } = aim;
    const numbers = queues.map((_, at) => n + at);
    this.#tell({
      ev: 'enqueue',
      ...(Object.keys(terms).length > 0 && { terms }),
      ...(queues.length > 1 && { together: numbers }),
    });
    const label = `${around.id}#${n}`;
    const wanted = { names: queues, terms, label, signal: this.#giveUp.signal };
    claimed(around, wanted).subscribe({ next: (seen) => this.#see(seen), complete: () => this.#end() });
  }

  /**
   * Returns whether this claim is an attempt on `queue`. If `n` is given, the attempt must also have that
   * number.
   */
  isOn(queue: string, n?: number): boolean {
    return this.aim.queues.some((name, at) => name === queue && (n === undefined || this.aim.n + at === n));
  }

  /** Ends the worker's attempt to get a lock in any state. Resolves when it has ended. */
  async release(): Promise<void> {
    if (!this.#held) {
      this.cancel();
      return;
    }
    if (this.#ended) return;
    this.#ended = true;
    this.#watch?.stop();
    this.#tell({ ev: 'released' });
    await this.#held.hold.release();
    this.#tell({ ev: 'left' });
  }

  /** Turns the write lock that the worker holds into a read lock. */
  async downgrade(): Promise<void> {
    if (this.#ended || this.#downgraded || !this.#held?.downgrade) return;
    this.#downgraded = true;
    this.#tell({ ev: 'downgrading' });
    const { downgrade, hold } = this.#held;
    try {
      await downgrade();
    } catch (error) {
      // Ignores a loss of the lock during the conversion to a read lock, because the claim reports the same
      // loss.
      if (isQueueLockError(error, 'OWNERSHIP_LOST')) return;
      throw error;
    }
    if (hold.held) this.#tell({ ev: 'downgraded' });
  }

  /**
   * Reads the property `held` of the hold and records the result, without waiting for the next read at the
   * regular interval.
   */
  readState(): void {
    this.#watch?.readState();
  }

  /** Writes once to each resource, if the claim is exclusive and the lock is held. */
  async write(): Promise<void> {
    const { shared, limit = 1 } = this.aim.terms;
    if (!shared && !this.#downgraded && limit === 1) await this.#writes?.write();
  }

  /** Writes once to each resource with the token of the claim's hold, even if the hold has ended. */
  async writeUnasked(): Promise<void> {
    await this.#writes?.write({ evenIfLost: true });
  }

  #see(seen: Seen): void {
    if (seen.status === 'held') this.#holds(seen.held);
    if (seen.status === 'queued' && !this.#ended) this.#isPlaced(seen.spots);
    if (seen.status === 'suspect' && !this.#ended) {
      this.#suspect = true;
      this.#tell({ ev: 'doubt' });
    }
    if (seen.status === 'ended') this.#ends(seen);
  }

  #holds(held: Held): void {
    const t = stampNow();
    if (this.#held) {
      if (this.#suspect && !this.#ended) this.#tell({ ev: 'sure', t });
      this.#suspect = false;
      return;
    }
    this.#held = held;
    const { hold, spots } = held;
    this.#isPlaced(spots, t);
    const { remainingMs } = hold;
    spots.forEach(({ token, order }, at) => {
      const place = { token: token.toString(), order: order.toString() };
      this.#tellOf(at, { ev: 'acquired', t, ...place, remainingMs });
    });
    // Reports the loss of the lock once, whether the abort listener or a read of `held` notices it first. A
    // read of `held` may itself call the listener.
    hold.signal.addEventListener('abort', () => this.#isLost(hold.signal.reason));
    this.#watch = new HoldWatch(hold, (read, isNews) => this.#tell(read, { quiet: !isNews }));
    // Stops at once if the read of `remainingMs` above has reported the loss, when this watch did not exist.
    if (this.#ended) this.#watch.stop();
    const { effects } = this.#around;
    this.#writes = new Writes({ held, queues: this.aim.queues, effects }, (at, reported) =>
      this.#tellOf(at, reported),
    );
    this.#grant(held);
  }

  #isPlaced(spots: readonly Spot[], t = stampNow()): void {
    const { heartbeats } = this.#around;
    const { queues } = this.aim;
    const { session } = heartbeats.stored(queues[0], spots[0]?.order);
    if (this.#placedIn === session) return;
    this.#placedIn = session;
    this.#place();
    spots.forEach(({ order, token }, at) => {
      const { key } = heartbeats.stored(queues[at]!, order);
      this.#tellOf(at, { ev: 'queued', t, order: order.toString(), token: token.toString(), key, session });
    });
  }

  #ends(state: Extract<Seen, { status: 'ended' }>): void {
    if (state.outcome === 'lost') this.#isLost(state.error);
    if (state.outcome === 'failed' && !this.#ended) {
      this.#ended = true;
      const { error } = state;
      const code = isQueueLockError(error) ? error.code : 'UNKNOWN';
      this.#tell({ ev: 'failed', code, message: String(error) });
    }
    this.#watch?.stop();
    this.#place();
    this.#grant(undefined);
  }

  #isLost(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    const reason = isQueueLockError(error) ? (error.reason ?? error.code) : String(error);
    this.#tell({ ev: 'revoked', reason });
    this.#watch?.readState();
    this.#watch?.stop();
  }

  /** Ends the claim if it still waits. Does nothing once the lock is held. */
  cancel(): void {
    if (this.#ended || this.#held) return;
    this.#ended = true;
    this.#tell({ ev: 'cancelled' });
    this.#giveUp.abort(new Error('the worker gives the wait up'));
  }

  /** Records an event of the claim once for each name of the claim. */
  #tell(report: AttemptReport, how: Loudness = {}): void {
    const t = report.t ?? stampNow();
    for (const at of this.aim.queues.keys()) this.#tellOf(at, { ...report, t }, how);
  }

  #tellOf(at: number, reported: AttemptReport, how: Loudness = {}): void {
    const { queues, n } = this.aim;
    this.#around.recorder.tell({ queue: queues[at]!, n: n + at, ...reported }, how);
  }
}
