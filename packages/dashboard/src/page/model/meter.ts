import type { ListedQueueSnapshot, QueuesSnapshot } from '@queuelock/bridge/wire';

/** A queue as somebody sees it who has looked for a while. */
export interface QueueRow {
  readonly name: string;
  readonly depth: number;
  /** How many have left in a second, over the last ten. */
  readonly handOffsPerS: number;
  /** For how long the first entry has been seen in front, in milliseconds. */
  readonly heldMs: number;
  /** Whether it was in front already when the bridge began to look, so that it may be longer. */
  readonly heldLonger: boolean;
  /** What a turn has taken lately; nothing where none has ended. */
  readonly turnMs: number | undefined;
  /** What somebody who joined now would wait, if turns go on taking as long. */
  readonly waitMs: number | undefined;
}

interface Sample {
  readonly at: number;
  readonly left: number;
}

interface Metered {
  readonly queue: ListedQueueSnapshot;
  /** The earliest first. */
  readonly samples: readonly Sample[];
}

/** What is known of all queues, by name. */
export type Meter = ReadonlyMap<string, Metered>;

export const EMPTY_METER: Meter = new Map();

const WINDOW_MS = 10_000;

/** Takes in another snapshot. */
export function metered(before: Meter, { queues, at }: Pick<QueuesSnapshot, 'queues' | 'at'>): Meter {
  return new Map(queues.map((queue) => [queue.name, follow(before.get(queue.name), queue, at)]));
}

function follow(before: Metered | undefined, queue: ListedQueueSnapshot, at: number): Metered {
  const sample = { at, left: queue.departures };
  if (!before || before.queue.departures > queue.departures) return { queue, samples: [sample] };
  const recent = before.samples.filter((_sample, place, all) => {
    const next = all[place + 1];
    // One sample from before the window is kept: the window begins there.
    return next === undefined || at - next.at < WINDOW_MS;
  });
  return { queue, samples: [...recent, sample] };
}

/** The rows as they are at `now`, by the bridge's clock. */
export function rowsOf(meter: Meter, now: number): readonly QueueRow[] {
  return [...meter.values()].map(({ queue, samples }) => {
    const { name, depth, frontAt, frontLonger = false } = queue;
    const [first] = samples;
    const spanMs = first ? now - first.at : 0;
    const left = first ? queue.departures - first.left : 0;
    const turnMs = left > 0 ? Math.round(spanMs / left) : undefined;
    return {
      name,
      depth,
      handOffsPerS: spanMs > 0 ? (left * 1_000) / spanMs : 0,
      heldMs: Math.max(0, now - frontAt),
      heldLonger: frontLonger,
      turnMs,
      waitMs: turnMs === undefined ? undefined : turnMs * depth,
    };
  });
}

/** What all queues are together. */
export interface Sum {
  readonly entries: number;
  readonly handOffsPerS: number;
  /** The one with the longest wait that is known. */
  readonly slowest: QueueRow | undefined;
}

/** Sums up rows. */
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
