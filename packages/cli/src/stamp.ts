/**
 * The clocks from which stamps are computed. A stamp is a time in nanoseconds since 1970 that processes of
 * one machine can compare.
 */
export interface StampClocks {
  /** Monotonic time in nanoseconds, with the same zero for all processes of the machine. */
  readonly monotonicNs: () => bigint;
  /** Time of day in whole milliseconds. It is used only to measure its offset from the monotonic time. */
  readonly wallMs: () => number;
}

const MILLISECOND_NS = 1_000_000n;
const PRECISE_NS = 5_000n;
// Time limit in nanoseconds for measuring the offset between the clocks. After it, the most precise
// measurement so far is used. The limit is reached when the clock does not tick, or the machine is too busy.
const MEASURED_WITHIN_NS = 200_000_000n;

/**
 * Makes a clock for histories of several processes of one machine. It returns nanoseconds since 1970 as a
 * decimal string. The offset between time of day and the monotonic clock is measured once, so the stamps
 * never go back, even when the time of day is set. The stamps of two processes agree to within some
 * microseconds, also on a busy machine; see `measureOffset`.
 */
export function createStamp(clocks: StampClocks = machineClocks): () => string {
  const offset = measureOffset(clocks);
  let latest = 0n;
  return () => {
    const now = clocks.monotonicNs() + offset;
    if (now > latest) latest = now;
    return latest.toString();
  };
}

/** Returns the time between two stamps in milliseconds. */
export function millisBetween(from: string, to: string): number {
  return Number(BigInt(to) - BigInt(from)) / 1e6;
}

/** Converts a stamp to whole milliseconds since 1970. */
export function millisOf(stamp: string): number {
  return Number(BigInt(stamp) / MILLISECOND_NS);
}

const machineClocks: StampClocks = {
  monotonicNs: () => process.hrtime.bigint(),
  wallMs: () => Date.now(),
};

/**
 * Measures the offset between the time of day and the monotonic clock. Each sample reads the monotonic clock,
 * the time of day in whole milliseconds, and the monotonic clock again. So each sample yields a lower
 * and an upper bound of the offset. They are loose but still correct if the process is preempted during the
 * sample. The tightest lower bound comes from a sample just after the start of a millisecond, the tightest
 * upper bound from a sample just before its end.
 */
function measureOffset({ monotonicNs, wallMs }: StampClocks): bigint {
  const start = monotonicNs();
  let least: bigint | undefined;
  let most: bigint | undefined;
  for (;;) {
    const before = monotonicNs();
    const wall = BigInt(wallMs()) * MILLISECOND_NS;
    const after = monotonicNs();
    least = least === undefined || wall - after > least ? wall - after : least;
    const bound = wall + MILLISECOND_NS - before;
    most = most === undefined || bound < most ? bound : most;
    if (most - least <= PRECISE_NS || after - start > MEASURED_WITHIN_NS) return (least + most) / 2n;
  }
}
