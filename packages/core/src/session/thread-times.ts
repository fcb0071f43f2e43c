import { BOOT_CLOCK_GRAIN_MS, type Clock } from '../base/clock.ts';

/** The times and states of one session that the main thread and the heartbeat thread share. All times are milliseconds of the main thread's clock. */
export interface KnownTimes {
  /** Deadline until which the heartbeats of either thread have proven the session. */
  readonly deadline: number;
  /** Time at which the latest heartbeat of the main thread was confirmed, or the session was opened. */
  readonly provenAt: number;
  /** Time at which the event loop of the main thread last ran. */
  readonly checkedInAt: number;
  /** Whether the main thread needs no more heartbeats, or the session has ended. */
  readonly isOver: boolean;
}

const MAIN_DEADLINE = 0;
const THREAD_DEADLINE = 1;
const PROVEN_AT = 2;
const CHECKED_IN_AT = 3;
const IS_OVER = 4;
const IS_LOST = 5;
const CELLS = 6;
// Stores whole microseconds, because atomic access to the shared memory requires integers.
const PER_MS = 1_000;

/**
 * Memory that both threads share. Only one thread writes each cell of it; the other may read it at any moment, even while the writer is blocked. The order in
 * which writes become visible does not matter, because an old value of any cell is safe.
 */
export class ThreadTimes {
  readonly memory: SharedArrayBuffer;
  readonly #cells: BigInt64Array<SharedArrayBuffer>;

  /** @param memory the memory of the other thread; default: new memory */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(CELLS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#cells = new BigInt64Array(memory);
  }

  /** Main thread: records a confirmed heartbeat. */
  noteProof(provenAt: number, deadline: number): void {
    this.#write(MAIN_DEADLINE, deadline);
    this.#write(PROVEN_AT, provenAt);
  }

  /** Main thread: records that its event loop runs (a check-in). */
  checkIn(now: number): void {
    this.#write(CHECKED_IN_AT, now);
  }

  /** Main thread: ends the heartbeats of the heartbeat thread. One that is in flight may still be completed. */
  end(): void {
    this.#write(IS_OVER, 1);
  }

  /** Main thread: the deadline that heartbeats of the heartbeat thread prove; 0 if they prove none. */
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

  /**
   * Heartbeat thread: records a proven deadline. It has no effect if the deadline that was proven before has already passed, because the hold has
   * ended then.
   */
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

  /** Stores a time rounded down to a microsecond, so that no deadline is later than the proven one. */
  #write(cell: number, value: number): void {
    Atomics.store(this.#cells, cell, BigInt(Math.floor(value * PER_MS)));
  }
}

/** Readings of two clocks at the same moment: of the main thread's clock, and of the process's monotonic clock, which all threads share. */
export interface ClockSample {
  readonly now: number;
  readonly processMs: number;
}

/** Reads both clocks, one directly after the other. */
export function sampleOf(clock: Clock): ClockSample {
  // Reads the monotonic clock second. Any delay between the readings makes the heartbeat thread's copy of the
  // clock late. Then its deadlines are too early, which is safe.
  const now = clock.now();
  return { now, processMs: processMs() };
}

/**
 * Returns the main thread's clock for use in another thread. Each thread measures suspensions of the machine separately, with an error of up to
 * `THREAD_CLOCK_GRAIN_MS`. Deadlines are earlier by that time.
 */
export function mainClockIn(own: Clock, main: ClockSample): Clock {
  const offset = main.now - main.processMs + processMs() - own.now();
  return { after: (ms, task) => own.after(ms, task), now: () => own.now() + offset };
}

/**
 * Returns the largest difference in milliseconds between the clocks of two threads. On macOS, `uv_uptime` of libuv (`src/unix/darwin.c`) subtracts
 * the boot time from `time(NULL)`, so `os.uptime()` has whole seconds. There a thread may take up to 1 s of rounding for a suspension.
 */
export function threadClockGrainMs(platform: NodeJS.Platform): number {
  return platform === 'darwin' ? 1_000 : BOOT_CLOCK_GRAIN_MS;
}

/** Largest difference in milliseconds between the clocks of two threads of this process. */
export const THREAD_CLOCK_GRAIN_MS: number = threadClockGrainMs(process.platform);

function processMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
