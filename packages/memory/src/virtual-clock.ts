import { invalidArgument, type Clock } from '@queuelock/core/backend';

/** A clock that stands still until a test moves it. Starts at 0. Its pauses are not spread: each takes as long as it may. */
export interface VirtualClock extends Clock {
  /**
   * Lets `ms` milliseconds pass: runs the timers that come due, earliest first (those of one instant in the order in
   * which they were set), each at its own instant, and lets all promise jobs run before the first, after each and at
   * the end. Calls that overlap run one after the other. Rejects with what a timer throws.
   */
  advance(ms: number): Promise<void>;
  /** Time passes and no timer runs: a blocked event loop, a suspended machine. They run late, at the next `advance`. */
  stall(ms: number): void;
  /** Timers that are set. 0 is what a program that cleaned up leaves behind. */
  readonly timerCount: number;
}

interface Timer {
  readonly due: number;
  readonly task: () => void;
}

// Taken when the module loads, so that a test which replaces the global timers does not stop this clock.
const { setImmediate: nextRound } = globalThis;

/** A round of the event loop: every promise job that is ready runs, and those that they make ready. */
function settle(): Promise<void> {
  return new Promise((resolve) => nextRound(resolve));
}

/** Makes a clock for deterministic tests: the same calls give the same order of events, in no real time. */
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
      // A time in the past is now, as for the timers of the platform.
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
