import { QueueLockError, connectionClosed, type Clock } from '@queuelock/core/backend';
import type { Database, Statement } from '../driver/driver.ts';
import { asQueueLockError, isBusy } from '../driver/errors.ts';

/** The timeout of a step when other processes keep the file busy. */
const STEP_TIMEOUT_MS = 5_000;
/** The time for steps in one turn of the event loop. The rest waits for the next turn, so that timers and sockets are served. */
const SLICE_MS = 4;
/**
 * How often a busy step is retried in the next turn of the event loop. A step of another process takes less than a millisecond, which is less than
 * the shortest timer.
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
 * Runs the steps of this process on the file, one after another in the order of the calls. Each is a transaction that has the write lock
 * from its beginning. A step that finds the file busy is retried after a short delay, so nothing waits synchronously. Calls keep their
 * order, and a step that timed out never runs. So a removal is final against all earlier calls.
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

  /** Runs the step, at once if possible. Rejects with the error that it throws; its changes are rolled back then. */
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

  /** Runs the first step of the queue. Returns `false` if the file is busy, so that the step has to be retried. */
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
      // SQLite has already rolled back by itself, as it does when the disk is full.
    }
  }

  /** Retries later, because other processes use the file. */
  #backOff(): void {
    this.#tries += 1;
    this.#rejectTimedOut();
    // A retry in the next turn of the event loop is scheduled already, so no timer is needed.
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
  /** Is called after each committed step. */
  readonly onCommit: () => void;
  readonly onRollback: () => void;
}
