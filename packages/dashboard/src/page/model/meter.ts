import type { ListedQueueSnapshot, QueuesSnapshot } from '@queuelock/bridge/wire';

/** A row in the list of queues, with rates that were measured over time. */
export interface QueueRow {
  readonly name: string;
  readonly depth: number;
  /** Entries that left the queue per second, over the last ten seconds. */
  readonly handOffsPerS: number;
  /** Milliseconds since the bridge first saw the queue's present first entry at the front. */
  readonly heldMs: number;
  /**
   * Whether the queue's first entry was already at the front when the bridge began to watch. The real time at
   * the front may then be longer.
   */
  readonly heldLonger: boolean;
  /**
   * Mean time in milliseconds between recent departures from the queue; `undefined` if no entry has left it.
   */
  readonly turnMs: number | undefined;
  /** Expected wait of a new entry in milliseconds, if entries keep leaving at the recent rate. */
  readonly waitMs: number | undefined;
}

interface Sample {
  readonly at: number;
  readonly departures: number;
}

interface Metered {
  readonly queue: ListedQueueSnapshot;
  /** How many entries had left the queue at several times, the earliest time first. */
  readonly samples: readonly Sample[];
}

/** Measurements of all queues, by the name of the queue. */
export type Meter = ReadonlyMap<string, Metered>;

export const EMPTY_METER: Meter = new Map();

const WINDOW_MS = 10_000;

/** Returns the measurements of all queues, updated by a new snapshot. */
export function metered(before: Meter, { queues, at }: Pick<QueuesSnapshot, 'queues' | 'at'>): Meter {
  return new Map(queues.map((queue) => [queue.name, follow(before.get(queue.name), queue, at)]));
}

function follow(before: Metered | undefined, queue: ListedQueueSnapshot, at: number): Metered {
  const sample = { at, departures: queue.departures };
  if (!before || before.queue.departures > queue.departures) return { queue, samples: [sample] };
  const recent = before.samples.filter((_sample, index, all) => {
    const next = all[index + 1];
    // Keeps one departure count from before the last ten seconds, so that the rates cover the full ten
    // seconds.
    return next === undefined || at - next.at < WINDOW_MS;
  });
  return { queue, samples: [...recent, sample] };
}

/** Computes the rows of the list of queues at the time `now` of the bridge's clock. */
export function rowsOf(meter: Meter, now: number): readonly QueueRow[] {
  return [...meter.values()].map(({ queue, samples }) => {
    const { name, depth, frontAt, frontLonger = false } = queue;
    const [first] = samples;
    const spanMs = first ? now - first.at : 0;
    const departures = first ? queue.departures - first.departures : 0;
    const turnMs = departures > 0 ? Math.round(spanMs / departures) : undefined;
    return {
      name,
      depth,
      handOffsPerS: spanMs > 0 ? (departures * 1_000) / spanMs : 0,
      heldMs: Math.max(0, now - frontAt),
      heldLonger: frontLonger,
      turnMs,
      waitMs: turnMs === undefined ? undefined : turnMs * depth,
    };
  });
}

/** Totals over all queues that the page lists: the number of entries, the hand-offs per second, and the slowest queue. */
export interface Sum {
  readonly entries: number;
  readonly handOffsPerS: number;
  /** The queue with the longest expected wait, if any is known. */
  readonly slowest: QueueRow | undefined;
}

/** Computes the totals from the rows of all queues. */
export function sumOf(rows: readonly QueueRow[]): Sum {
  let [entries, handOffsPerS] = [0, 0];
  let slowest: QueueRow | undefined;
  for (const row of rows) {
    entries += row.depth;
    handOffsPerS += row.handOffsPerS;
    if (row.waitMs !== undefined && row.waitMs > (slowest?.waitMs ?? -1)) slowest = row;
  }
  return { entries, handOffsPerS, slowest };
}
