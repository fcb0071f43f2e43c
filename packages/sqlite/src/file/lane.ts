import { QueueLockError, connectionClosed, type Clock } from '@queuelock/core/backend';
import type { Database, Statement } from '../driver/driver.ts';
import { asQueueLockError, isBusy } from '../driver/errors.ts';

/** How long a step waits for the file when other processes keep it busy. */
const PATIENCE_MS = 5_000;
/** In one turn of the event loop: the rest waits for the next one, so that timers and sockets have their share. */
const SLICE_MS = 4;
/** A step of another process takes a fraction of a millisecond, less than the shortest timer. */
const QUICK_TRIES = 3;
const LONGEST_PAUSE_MS = 16;

interface Step {
  readonly take: () => unknown;
  readonly done: (value: unknown) => void;
  readonly failed: (error: unknown) => void;
  readonly until: number;
}

/**
 * The steps that this process takes on the file, one after the other in the order of the calls, each a transaction that has the write
 * lock from its beginning. A step that finds the file busy is tried again after a short pause: nothing waits synchronously. Since
 * the order of calls is kept and a step that is given up is never taken, a removal is final against whatever was called before.
 */
export class Lane {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  readonly #onCommit: () => void;
  readonly #onRollback: () => void;
  readonly #steps: Step[] = [];
  #spentMs = 0;
  #turn: NodeJS.Immediate | undefined;
  #pause: NodeJS.Timeout | undefined;
  #tries = 0;
  #working = false;
  #closed = false;

  constructor(db: Database, { file, clock, onCommit, onRollback }: LaneSettings) {
    this.#file = file;
    this.#clock = clock;
    this.#begin = db.prepare('begin immediate');
    this.#commit = db.prepare('commit');
    this.#rollback = db.prepare('rollback');
    this.#onCommit = onCommit;
    this.#onRollback = onRollback;
  }

  /** Takes the step, at once if nothing is in the way. Rejects with what it throws, and nothing of it has happened then. */
  write<T>(take: () => T): Promise<T> {
    return new Promise((done, failed) => {
      if (this.#closed) {
        failed(connectionClosed(this.#file));
        return;
      }
      const until = this.#clock.now() + PATIENCE_MS;
      this.#steps.push({ take, done: done as Step['done'], failed, until });
      if (this.#pause === undefined) this.#work();
    });
  }

  /** What has not begun is refused. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#pause);
    clearImmediate(this.#turn);
    for (const { failed } of this.#steps.splice(0)) failed(connectionClosed(this.#file));
  }

  #work(): void {
    if (this.#working) return;
    this.#working = true;
    const begun = this.#clock.now();
    const spentBefore = this.#spentMs;
    while (this.#steps.length > 0 && this.#spentMs < SLICE_MS && this.#tryFirst()) {
      this.#spentMs = spentBefore + (this.#clock.now() - begun);
    }
    this.#working = false;
    if (!this.#closed) this.#turn ??= setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#turn = undefined;
    this.#spentMs = 0;
    if (this.#steps.length > 0 && this.#pause === undefined) this.#work();
  }

  /** `false` if the file is busy. */
  #tryFirst(): boolean {
    try {
      this.#begin.run();
    } catch (error) {
      if (!isBusy(error)) return this.#settle((step) => step.failed(asQueueLockError(error, this.#file)));
      this.#rest();
      return false;
    }
    this.#tries = 0;
    return this.#settle((step) => this.#take(step));
  }

  #settle(settle: (step: Step) => void): true {
    const step = this.#steps.shift();
    if (step) settle(step);
    return true;
  }

  #take({ take, done, failed }: Step): void {
    let value: unknown;
    try {
      value = take();
      this.#commit.run();
    } catch (error) {
      this.#undo();
      failed(asQueueLockError(error, this.#file));
      return;
    }
    done(value);
    this.#onCommit();
  }

  #undo(): void {
    this.#onRollback();
    try {
      this.#rollback.run();
    } catch {
      // SQLite has done it by itself, as it does when the disk is full.
    }
  }

  /** Others have the file. */
  #rest(): void {
    this.#tries += 1;
    this.#giveUpLate();
    // The next turn comes anyway.
    if (this.#tries <= QUICK_TRIES || this.#steps.length === 0) return;
    const longest = Math.min(LONGEST_PAUSE_MS, 2 ** (this.#tries - QUICK_TRIES));
    this.#pause = setTimeout(
      () => {
        this.#pause = undefined;
        this.#work();
      },
      1 + Math.random() * longest,
    );
  }

  #giveUpLate(): void {
    const now = this.#clock.now();
    while (this.#steps[0] !== undefined && this.#steps[0].until <= now) {
      const message = `${this.#file} was kept busy by other processes for ${PATIENCE_MS} ms; one that is stopped in the middle of a step keeps it until it goes on or ends`;
      this.#steps.shift()?.failed(new QueueLockError('UNAVAILABLE', message));
    }
  }
}

interface LaneSettings {
  readonly file: string;
  readonly clock: Clock;
  /** After each step that has taken effect. */
  readonly onCommit: () => void;
  readonly onRollback: () => void;
}
