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
import type { Stage } from './stage.ts';

/** Between two places that are taken to see whether everything goes on. */
const MEANWHILE_MS = 20;

interface Renewal {
  readonly promisedMs: number;
  /** The time of the call that was answered plus what was promised. */
  readonly until: number;
}

/** A session as a client begins with it. */
export interface Opened {
  readonly session: Session;
  /** By the harness's clock. */
  readonly promisedUntil: number;
}

/** One session, renewed three times in each TTL until it is silenced. */
export class Client {
  readonly stage: Stage;
  readonly backend: Backend;
  readonly session: Session;
  readonly #contenders: Contender[] = [];
  readonly #stopped = new AbortController();
  #renewals = 0;
  #promisedUntil: number;
  #ended = false;
  readonly #beating: Promise<void>;

  constructor(stage: Stage, backend: Backend, opened: Opened) {
    this.stage = stage;
    this.backend = backend;
    this.session = opened.session;
    this.#promisedUntil = opened.promisedUntil;
    this.#beating = this.#beat();
  }

  /** How often the session was renewed. */
  get renewals(): number {
    return this.#renewals;
  }

  /** Until when the store has promised to keep the session. */
  get promisedUntil(): number {
    return this.#promisedUntil;
  }

  /** A wish of this client: exclusive, in the stage's queue, with a new id. */
  wish(wish: Partial<EntrySpec> = {}): EntrySpec {
    return {
      queue: this.stage.queue,
      id: randomBytes(16).toString('hex'),
      shared: false,
      limit: 1,
      ...wish,
    };
  }

  async enter(wish: Partial<EntrySpec> = {}): Promise<Contender> {
    const spec = this.wish(wish);
    return this.follow(spec, await this.enqueue(spec));
  }

  /** Enters several queues at once. */
  async enterAll(...wishes: readonly Partial<EntrySpec>[]): Promise<readonly Contender[]> {
    const specs = wishes.map((wish) => this.wish(wish));
    const placements = await this.enqueueAll(specs);
    return placements.map((placement, place) => this.follow(specs[place] as EntrySpec, placement));
  }

  async tryEnter(wish: Partial<EntrySpec> = {}): Promise<Contender | undefined> {
    const spec = this.wish(wish);
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
    const answer = this.session.enqueueAll?.(specs) ?? lacks('Session.enqueueAll');
    return this.stage.board.within('enqueueAll answers', answer);
  }

  async share(queue: string, id: string, value: string): Promise<boolean> {
    const answer = this.session.share?.(queue, id, value) ?? lacks('Session.share');
    return this.stage.board.within('share answers', answer);
  }

  remove(queue: string, id: string): Promise<boolean> {
    return this.stage.board.within('remove answers', this.session.remove(queue, id));
  }

  /** Renews until there is an answer: one that is late is none. The client must be silent. */
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

  /** Renews no more; resolves when no renewal is on its way. */
  async silence(): Promise<void> {
    this.#stopped.abort();
    await this.stage.board.within('the last renewal answers', this.#beating);
  }

  /**
   * Waits for that, and takes and leaves a place in another queue meanwhile, now and then. Answers how much longer than usual that took,
   * in milliseconds, when it took longest: for so long the store or this process stood still.
   */
  async stoodStillUntil(awaited: Promise<void>): Promise<number> {
    const over = new AbortController();
    const waited = awaited.finally(() => over.abort());
    // It is looked at below.
    waited.catch(() => undefined);
    let longestMs = 0;
    while (!over.signal.aborted) {
      const begun = this.stage.now();
      await elapsed(MEANWHILE_MS, over.signal);
      const place = this.enter({ queue: `${this.stage.queue}-meanwhile` });
      // What gets no answer takes its time, too.
      await place.then((entered) => entered.leave()).catch(() => undefined);
      longestMs = Math.max(longestMs, this.stage.now() - begun - MEANWHILE_MS);
    }
    await waited;
    return longestMs;
  }

  /** Dies without a word. */
  async crash(): Promise<void> {
    await this.silence();
    this.#giveUp();
    await this.stage.harness.crash?.(this.session);
  }

  /** Leaves the session to whoever resumes it; its entries stay in everybody's way. */
  async abandon(): Promise<void> {
    await this.silence();
    for (const contender of this.#contenders) contender.unfollow();
    this.#ended = true;
    await this.stage.board.within('abandon answers', this.session.abandon?.() ?? lacks('Session.abandon'));
  }

  /** Enters again for an entry that this session had when another process held it. */
  async retake(contender: Contender): Promise<Contender> {
    const placement = await this.enqueue(contender.spec);
    contender.requirePlace(placement);
    contender.giveUp();
    return this.follow(contender.spec, placement);
  }

  /** Ends the session properly, unless that was done or it was abandoned. */
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

  /** Other failures leave the outcome unknown: the next beat is the answer to those. A late beat proves nothing. */
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
