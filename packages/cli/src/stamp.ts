/** The two clocks that a stamp is computed from. */
export interface StampClocks {
  /** Monotonic time in nanoseconds, with the same zero for all processes of the machine. */
  readonly monotonicNs: () => bigint;
  /** Time of day in whole milliseconds, for the offset only. */
  readonly wallMs: () => number;
}

const MILLISECOND_NS = 1_000_000n;
const PRECISE_NS = 5_000n;
// Time in nanoseconds after which the measurement ends with the best bound so far. The clock may not tick, or
// the machine may be too busy to notice a tick.
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
 * Measures the offset. Each reading bounds it: between two readings of the monotonic clock the time of day
 * was within that millisecond. A process that is preempted during a reading gets a loose bound, never a wrong
 * one. Readings around a change of the millisecond bound the offset from both sides.
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
