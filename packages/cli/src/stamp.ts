/** The two clocks that a stamp is made of. */
export interface StampClocks {
  /** Monotonic, in nanoseconds; the same zero for all processes of the machine. */
  readonly monotonicNs: () => bigint;
  /** Time of day in whole milliseconds, for the offset only. */
  readonly wallMs: () => number;
}

const MILLISECOND_NS = 1_000_000n;
const PRECISE_NS = 5_000n;
// A clock that has not ticked by then, or a machine so busy that we never saw it, is taken as it is.
const MEASURED_WITHIN_NS = 200_000_000n;

/**
 * A clock for histories of several processes of one machine: nanoseconds of the day's time, as a decimal string. It never
 * goes back, also when the time of day is set: the offset between time of day and the monotonic clock is measured once.
 * Two processes agree to within some microseconds, also on a busy machine, see `measureOffset`.
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

/** The time between two stamps, in milliseconds. */
export function millisBetween(from: string, to: string): number {
  return Number(BigInt(to) - BigInt(from)) / 1e6;
}

/** A stamp in whole milliseconds since 1970. */
export function millisOf(stamp: string): number {
  return Number(BigInt(stamp) / MILLISECOND_NS);
}

const machineClocks: StampClocks = {
  monotonicNs: () => process.hrtime.bigint(),
  wallMs: () => Date.now(),
};

/**
 * Each look bounds the offset: at some moment between the two readings of the monotonic clock the time of day was within
 * that millisecond. A process that is preempted in the middle of a look gets a loose bound, never a wrong one; looks
 * around a change of the millisecond bound it from both sides.
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
