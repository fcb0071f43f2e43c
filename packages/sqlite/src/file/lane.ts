import { QueueLockError, connectionClosed, type Clock } from '@queuelock/core/backend';
import type { Database, Statement } from '../driver/driver.ts';
import { asQueueLockError, isBusy } from '../driver/errors.ts';

/** A step is rejected when other processes keep the file locked for this many milliseconds. */
const STEP_TIMEOUT_MS = 5_000;
/**
 * Steps run for at most this many milliseconds in one turn of the event loop. Further steps run in the next
 * turn, so that timers and sockets are served in between.
 */
const SLICE_MS = 4;
/**
 * How many times a step that finds the file locked is retried in the next turn of the event loop, before timers are used. A step of
 * another process takes less time than the shortest timer.
 */
const IMMEDIATE_RETRIES = 3;
const MAX_BACKOFF_MS = 16;

interface Step {
  readonly run: () => unknown;
  readonly done: (value: unknown) => void;
  readonly failed: (error: unknown) => void;
  readonly until: number;
}

/**
 * Runs the steps of this process one after another, in the order of the calls. Each step is a transaction that has the write lock from its
 * beginning. If another process has locked the file, the step is retried after a short delay, so that the event loop is not blocked. A step
 * that has timed out never runs. So after an entry was removed, no earlier enqueue can add it again.
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
  #immediate: NodeJS.Immediate | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
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

  /**
   * Runs the step in a transaction, at once if possible. If the step throws, the transaction is rolled back and the promise rejects with
   * that error.
   */
  write<T>(run: () => T): Promise<T> {
    return new Promise((done, failed) => {
      if (this.#closed) {
        failed(connectionClosed(this.#file));
        return;
      }
      const until = this.#clock.now() + STEP_TIMEOUT_MS;
      this.#steps.push({ run, done: done as Step['done'], failed, until });
      if (this.#retryTimer === undefined) this.#work();
    });
  }

  /** Rejects all steps that have not started. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    clearImmediate(this.#immediate);
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
    if (!this.#closed) this.#immediate ??= setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#immediate = undefined;
    this.#spentMs = 0;
    if (this.#steps.length > 0 && this.#retryTimer === undefined) this.#work();
  }

  /**
   * Runs the step that has waited longest. Returns `false` if another process has locked the file, so that
   * the step must be retried.
   */
  #tryFirst(): boolean {
    try {
      this.#begin.run();
    } catch (error) {
      if (!isBusy(error)) return this.#settle((step) => step.failed(asQueueLockError(error, this.#file)));
      this.#backOff();
      return false;
    }
    this.#tries = 0;
    return this.#settle((step) => this.#run(step));
  }

  #settle(settle: (step: Step) => void): true {
    const step = this.#steps.shift();
    if (step) settle(step);
    return true;
  }

  #run({ run, done, failed }: Step): void {
    let value: unknown;
    try {
      value = run();
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
      // The rollback fails if SQLite has already rolled back the transaction, as it does when the disk is
      // full.
    }
  }

  /** Schedules a retry, because another process has locked the file. */
  #backOff(): void {
    this.#tries += 1;
    this.#rejectTimedOut();
    // The first retries need no timer: the caller `#work` schedules them for the next turn of the event loop.
    if (this.#tries <= IMMEDIATE_RETRIES || this.#steps.length === 0) return;
    const longest = Math.min(MAX_BACKOFF_MS, 2 ** (this.#tries - IMMEDIATE_RETRIES));
    this.#retryTimer = setTimeout(
      () => {
        this.#retryTimer = undefined;
        this.#work();
      },
      1 + Math.random() * longest,
    );
  }

  #rejectTimedOut(): void {
    const now = this.#clock.now();
    while (this.#steps[0] !== undefined && this.#steps[0].until <= now) {
      const message = `${this.#file} was locked by other processes for ${STEP_TIMEOUT_MS} ms; a process that is stopped during a step keeps the lock until it continues or ends`;
      this.#steps.shift()?.failed(new QueueLockError('UNAVAILABLE', message));
    }
  }
}

interface LaneSettings {
  readonly file: string;
  readonly clock: Clock;
  /** Called after the transaction of each step was committed. */
  readonly onCommit: () => void;
  readonly onRollback: () => void;
}
