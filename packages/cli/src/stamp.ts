/** The two clocks that a stamp is made of. */
export interface StampClocks {
  /** Monotonic, in nanoseconds; the same zero for all processes of the machine. */
  readonly monotonicNs: () => bigint;
  /** Time of day in whole milliseconds, for the offset only. */
  readonly wallMs: () => number;
}

const EDGES = 3;
// A clock that does not tick within this time is used as it is; it should tick every millisecond.
const TICK_WITHIN_NS = 20_000_000n;

/**
 * A clock for histories of several processes of one machine: nanoseconds of the day's time, as a decimal string. It never
 * goes back, also when the time of day is set: the offset between time of day and the monotonic clock is measured once.
 * Two processes agree to within some microseconds, because the offset is taken where the millisecond changes.
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

const machineClocks: StampClocks = {
  monotonicNs: () => process.hrtime.bigint(),
  wallMs: () => Date.now(),
};

interface Edge {
  readonly offset: bigint;
  readonly width: bigint;
}

/** The narrowest of a few: a process that is preempted in the middle of one sees a wide edge. */
function measureOffset(clocks: StampClocks): bigint {
  const edges = Array.from({ length: EDGES }, () => nextEdge(clocks));
  return edges.reduce((best, edge) => (edge.width < best.width ? edge : best)).offset;
}

function nextEdge({ monotonicNs, wallMs }: StampClocks): Edge {
  const start = monotonicNs();
  const first = wallMs();
  for (let before = start; ;) {
    const wall = wallMs();
    const after = monotonicNs();
    if (wall !== first || after - start > TICK_WITHIN_NS) {
      return { offset: BigInt(wall) * 1_000_000n - (before + after) / 2n, width: after - before };
    }
    before = after;
  }
}
