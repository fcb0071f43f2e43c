import { invalidArgument, type Clock } from '@queuelock/core/backend';

/**
 * A clock that moves only when a test moves it. It starts at 0. It adds no jitter: each backoff takes its longest time, so that tests are repeatable.
 */
export interface VirtualClock extends Clock {
  /**
   * Lets time pass: runs the timers that are due, each at its own instant, the earliest first. Timers of the same instant run in the order
   * in which they were set. All promise jobs run before the first timer, after each timer, and at the end. Overlapping calls run one after
   * the other. Rejects with the error that a timer throws.
   * @param ms time to pass, in milliseconds
   */
  advance(ms: number): Promise<void>;
  /**
   * Lets time pass without running timers, like a blocked event loop or a suspended machine. The timers run late, at the next `advance`.
   * @param ms time to pass, in milliseconds
   */
  stall(ms: number): void;
  /** Number of timers that are set. A program that has cleaned up leaves 0. */
  readonly timerCount: number;
}

interface Timer {
  readonly due: number;
  readonly task: () => void;
}

// Keeps Node's `setImmediate` when the module loads, so that this clock also works in tests that replace the
// global timers.
const { setImmediate: nextRound } = globalThis;

/** Resolves after a round of the event loop, in which all ready promise jobs run, and all promise jobs that these jobs add. */
function settle(): Promise<void> {
  return new Promise((resolve) => nextRound(resolve));
}

/**
 * Returns a clock for deterministic tests: the same calls give the same order of events, without waiting in real time.
 * @example
 * const clock = virtualClock();
 * const server = createMemoryServer({ clock });
 * const client = createLockClient(memory({ server }), { clock });
 * await clock.advance(10_000);
 */
export function virtualClock(): VirtualClock {
  let now = 0;
  let last: Promise<void> = Promise.resolve();
  const timers = new Set<Timer>();

  const nextDue = (until: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) if (timer.due <= until && (!next || timer.due < next.due)) next = timer;
    return next;
  };
  const pass = async (ms: number): Promise<void> => {
    const until = now + ms;
    await settle();
    for (let timer = nextDue(until); timer; timer = nextDue(until)) {
      timers.delete(timer);
      now = Math.max(now, timer.due);
      timer.task();
      await settle();
    }
    now = Math.max(now, until);
    await settle();
  };

  return {
    now: () => now,
    random: () => 0,
    after(ms, task) {
      // A timer with a negative delay is due now, as with Node's `setTimeout`.
      const timer = { due: now + Math.max(0, checkedMs(ms, -Infinity)), task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      const duration = checkedMs(ms);
      const run = (): Promise<void> => pass(duration);
      return (last = last.then(run, run));
    },
    stall(ms) {
      now += checkedMs(ms);
    },
    get timerCount() {
      return timers.size;
    },
  };
}

function checkedMs(ms: number, least = 0): number {
  if (!(ms >= least)) throw invalidArgument('ms', ms, 'is a number of milliseconds from 0 up');
  return ms;
}
