import { randomBytes } from 'node:crypto';
import {
  isQueueLockError,
  repeatUntilDefinite,
  type Backend,
  type EntrySpec,
  type Placement,
  type Session,
} from '@queuelock/core/backend';
import { Contender } from './contender.ts';
import { longestWaitMs } from './harness.ts';
import { lacks } from './lacks.ts';
import type { Fixture } from './fixture.ts';

/**
 * Delay in milliseconds between two measurements of stalls. A stall is a time in which the store or this
 * process does not respond.
 */
const MEANWHILE_MS = 20;

interface Renewal {
  readonly promisedMs: number;
  /**
   * Time until which the store has promised to keep the session: when the renewal was sent, plus
   * `promisedMs`.
   */
  readonly until: number;
}

/** A new session, and the time that the store promised for it. */
export interface Opened {
  readonly session: Session;
  /** Time until which the store has promised to keep the session, by the harness's clock. */
  readonly promisedUntil: number;
}

/** A client with one session. It renews the session three times in each TTL until `silence` is called. */
export class Client {
  readonly stage: Fixture;
  readonly backend: Backend;
  readonly session: Session;
  readonly #contenders: Contender[] = [];
  readonly #stopped = new AbortController();
  #renewals = 0;
  #promisedUntil: number;
  #ended = false;
  readonly #beating: Promise<void>;

  constructor(stage: Fixture, backend: Backend, opened: Opened) {
    this.stage = stage;
    this.backend = backend;
    this.session = opened.session;
    this.#promisedUntil = opened.promisedUntil;
    this.#beating = this.#beat();
  }

  /** Number of periodic renewals of the session that the store has confirmed. */
  get renewals(): number {
    return this.#renewals;
  }

  /** Time until which the store has promised to keep the session, by the harness's clock. */
  get promisedUntil(): number {
    return this.#promisedUntil;
  }

  /**
   * Makes the spec of an exclusive entry with a new id, in the queue that the check of the fact uses. `part`
   * contains the properties that differ.
   */
  newSpec(part: Partial<EntrySpec> = {}): EntrySpec {
    return {
      queue: this.stage.queue,
      id: randomBytes(16).toString('hex'),
      shared: false,
      limit: 1,
      ...part,
    };
  }

  async enter(part: Partial<EntrySpec> = {}): Promise<Contender> {
    const spec = this.newSpec(part);
    return this.follow(spec, await this.enqueue(spec));
  }

  /** Enters several queues with one call. */
  async enterAll(...parts: readonly Partial<EntrySpec>[]): Promise<readonly Contender[]> {
    const specs = parts.map((part) => this.newSpec(part));
    const placements = await this.enqueueAll(specs);
    return placements.map((placement, place) => this.follow(specs[place] as EntrySpec, placement));
  }

  async tryEnter(part: Partial<EntrySpec> = {}): Promise<Contender | undefined> {
    const spec = this.newSpec(part);
    const placement = await this.stage.board.within('tryEnqueue answers', this.session.tryEnqueue(spec));
    return placement && this.follow(spec, placement);
  }

  follow(spec: EntrySpec, placement: Contender['placement']): Contender {
    const contender = new Contender(this, spec, placement);
    this.#contenders.push(contender);
    return contender;
  }

  enqueue(spec: EntrySpec): Promise<Placement> {
    return this.stage.board.within('enqueue answers', this.session.enqueue(spec));
  }

  async enqueueAll(specs: readonly EntrySpec[]): Promise<readonly Placement[]> {
    const response = this.session.enqueueAll?.(specs) ?? lacks('Session.enqueueAll');
    return this.stage.board.within('enqueueAll answers', response);
  }

  async share(queue: string, id: string, value: string): Promise<boolean> {
    const response = this.session.share?.(queue, id, value) ?? lacks('Session.share');
    return this.stage.board.within('share answers', response);
  }

  remove(queue: string, id: string): Promise<boolean> {
    return this.stage.board.within('remove answers', this.session.remove(queue, id));
  }

  /**
   * Renews the session, and repeats the call until the store responds. The time that the store promises
   * counts from the start of the last of these calls. Call `silence` before, so that the periodic renewals do
   * not interfere.
   */
  async renew(): Promise<Renewal> {
    const giveUp = AbortSignal.timeout(longestWaitMs(this.stage.harness));
    let calledAt = Number.NaN;
    const promisedMs = await repeatUntilDefinite(() => {
      calledAt = this.stage.now();
      return this.session.renew(new AbortController().signal);
    }, giveUp);
    this.#promisedUntil = calledAt + promisedMs;
    return { promisedMs, until: this.#promisedUntil };
  }

  /** Stops the periodic renewals of the session. Resolves when no renewal is in flight. */
  async silence(): Promise<void> {
    this.#stopped.abort();
    await this.stage.board.within('the last renewal answers', this.#beating);
  }

  /**
   * Waits until `awaited` has settled, and measures stalls meanwhile: enters and leaves another queue
   * repeatedly. Resolves with the duration of the slowest attempt, in milliseconds. The store or this process
   * may have been stalled for that long.
   */
  async stoodStillUntil(awaited: Promise<void>): Promise<number> {
    const over = new AbortController();
    const waited = awaited.finally(() => over.abort());
    // Keeps Node from reporting an unhandled rejection. The `await` at the end of this function rejects with
    // the error.
    waited.catch(() => undefined);
    let longestMs = 0;
    while (!over.signal.aborted) {
      const begun = this.stage.now();
      await elapsed(MEANWHILE_MS, over.signal);
      const place = this.enter({ queue: `${this.stage.queue}-meanwhile` });
      // An attempt to enter the queue that fails is measured too, because a stall may have caused the
      // failure.
      await place.then((entered) => entered.leave()).catch(() => undefined);
      longestMs = Math.max(longestMs, this.stage.now() - begun - MEANWHILE_MS);
    }
    await waited;
    return longestMs;
  }

  /** Simulates the death of the client: nothing is released or renewed. */
  async crash(): Promise<void> {
    await this.silence();
    this.#giveUp();
    await this.stage.harness.crash?.(this.session);
  }

  /** Abandons the session, so that another client can resume it. Its entries stay in the queues. */
  async abandon(): Promise<void> {
    await this.silence();
    for (const contender of this.#contenders) contender.unfollow();
    this.#ended = true;
    await this.stage.board.within('abandon answers', this.session.abandon?.() ?? lacks('Session.abandon'));
  }

  /**
   * Takes over the entry of a contender whose session this client has resumed. Throws unless the entry has
   * kept its order number, token and key.
   */
  async retake(contender: Contender): Promise<Contender> {
    const placement = await this.enqueue(contender.spec);
    contender.requirePlace(placement);
    contender.giveUp();
    return this.follow(contender.spec, placement);
  }

  /** Closes the session, unless it was closed or abandoned. */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await this.silence();
    this.#giveUp();
    await this.stage.board.within('close answers', this.session.close());
  }

  #giveUp(): void {
    for (const contender of this.#contenders) contender.giveUp();
  }

  async #beat(): Promise<void> {
    const { signal } = this.#stopped;
    for (;;) {
      await elapsed(this.session.ttlMs / 3, signal);
      if (signal.aborted) return;
      const calledAt = this.stage.now();
      try {
        this.#promisedUntil = calledAt + (await this.session.renew(new AbortController().signal));
        this.#renewals += 1;
      } catch (error) {
        this.#judge(error);
      }
      this.stage.board.note();
    }
  }

  /**
   * Reports a violation when the session was lost within its promised time. Other errors are no violation:
   * the next renewal shows whether the session still exists.
   */
  #judge(error: unknown): void {
    if (isQueueLockError(error, 'SESSION_LOST') && this.stage.now() < this.#promisedUntil) {
      this.stage.referee.accuse('a session was lost before the time that its last renewal promised');
    }
  }
}

function elapsed(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal.aborted ? 0 : ms);
    signal.addEventListener('abort', end);
  });
}
