import { BOOT_CLOCK_GRAIN_MS, type Clock } from '../base/clock.ts';

/**
 * The times and states of one session that main thread and heartbeat thread share. All times are readings of the main thread's clock, in
 * milliseconds.
 */
export interface KnownTimes {
  /** Proven deadline, by the heartbeats of either thread. */
  readonly deadline: number;
  /** When the main thread last proved a heartbeat. */
  readonly provenAt: number;
  /** When the event loop of the main thread last ran. */
  readonly checkedInAt: number;
  /** Whether no more heartbeats are needed, or the session has ended. */
  readonly isOver: boolean;
}

const MAIN_DEADLINE = 0;
const THREAD_DEADLINE = 1;
const PROVEN_AT = 2;
const CHECKED_IN_AT = 3;
const IS_OVER = 4;
const IS_LOST = 5;
const CELLS = 6;
// Cells contain whole microseconds: atomic access needs integers.
const PER_MS = 1_000;

/**
 * Memory that both threads share. Each cell is written by one thread only and read at any moment, also while the other thread is blocked. No order
 * between cells is assumed: every one of them is safe to read late.
 */
export class ThreadTimes {
  readonly memory: SharedArrayBuffer;
  readonly #cells: BigInt64Array<SharedArrayBuffer>;

  /** @param memory that of the other thread; default: new memory */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(CELLS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#cells = new BigInt64Array(memory);
  }

  /** Main thread: records a proven heartbeat. */
  noteProof(provenAt: number, deadline: number): void {
    this.#write(MAIN_DEADLINE, deadline);
    this.#write(PROVEN_AT, provenAt);
  }

  /** Main thread: records that its event loop runs. */
  checkIn(now: number): void {
    this.#write(CHECKED_IN_AT, now);
  }

  /** Main thread: ends the heartbeats of the other thread, which sends no more after a heartbeat that is in flight. */
  end(): void {
    this.#write(IS_OVER, 1);
  }

  /** Main thread: the deadline that heartbeats of the heartbeat thread prove; 0 if none do. */
  get threadDeadline(): number {
    return this.#read(THREAD_DEADLINE);
  }

  /** Whether the heartbeat thread has found that the session has ended on the server. */
  get isLost(): boolean {
    return this.#read(IS_LOST) === 1;
  }

  /** Heartbeat thread: reads the shared times and states. */
  get known(): KnownTimes {
    return {
      deadline: Math.max(this.#read(MAIN_DEADLINE), this.#read(THREAD_DEADLINE)),
      provenAt: this.#read(PROVEN_AT),
      checkedInAt: this.#read(CHECKED_IN_AT),
      isOver: this.#read(IS_OVER) === 1 || this.isLost,
    };
  }

  /** Heartbeat thread: records a proven deadline. One that comes after the known deadline does not count: the hold has ended by then. */
  prove(deadline: number, now: number): void {
    const known = this.known.deadline;
    if (now < known && deadline > known) this.#write(THREAD_DEADLINE, deadline);
  }

  /** Heartbeat thread: records that the session has ended on the server. */
  lose(): void {
    this.#write(IS_LOST, 1);
  }

  #read(cell: number): number {
    return Number(Atomics.load(this.#cells, cell)) / PER_MS;
  }

  /** Rounds down, so that no deadline is later than the proven one. */
  #write(cell: number, value: number): void {
    Atomics.store(this.#cells, cell, BigInt(Math.floor(value * PER_MS)));
  }
}

/** The readings of two clocks at one moment: that of the main thread, and the monotonic clock of the process, which all threads share. */
export interface ClockSample {
  readonly now: number;
  readonly processMs: number;
}

/** Reads both clocks, one directly after the other. */
export function sampleOf(clock: Clock): ClockSample {
  // The monotonic clock is read second. Time that passes between the two readings makes the clock of the heartbeat thread late, so that
  // its deadlines are too early and never too late.
  const now = clock.now();
  return { now, processMs: processMs() };
}

/**
 * Returns the clock of the main thread as another thread reads it. Both measure suspensions of the machine each for itself, up to the grain of the boot
 * clock; so deadlines are that much earlier.
 */
export function mainClockIn(own: Clock, main: ClockSample): Clock {
  const offset = main.now - main.processMs + processMs() - own.now();
  return { after: (ms, task) => own.after(ms, task), now: () => own.now() + offset };
}

/** The largest difference between the clocks of two threads after a suspension. */
export const THREAD_CLOCK_GRAIN_MS: number = BOOT_CLOCK_GRAIN_MS;

function processMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
