import type { ListedQueue } from '@queuelock/core';

/** A row of `queuelock top`: a queue, with rates that are computed from successive samples of it. */
export interface QueueRow {
  readonly name: string;
  readonly depth: number;
  /** Departures per second, over the last ten seconds. */
  readonly handOffsPerS: number;
  /** Time in milliseconds for which the first entry of the queue has been the first. */
  readonly heldMs: number;
  /**
   * Whether the first entry of the queue may have been the first for longer than `heldMs`, because `queuelock
   * top` had no earlier sample.
   */
  readonly heldLonger: boolean;
  /**
   * Recent mean time between two departures from the queue, in milliseconds. `undefined` if no entry has
   * left.
   */
  readonly turnMs: number | undefined;
  /**
   * Expected wait of a new entry in milliseconds, if entries continue to leave as often as in the last ten
   * seconds.
   */
  readonly waitMs: number | undefined;
}

interface Sample {
  readonly at: number;
  readonly left: number;
}

interface Metered {
  readonly queue: ListedQueue;
  readonly frontSince: number;
  readonly frontIsOld: boolean;
  /** Samples of the queue, the earliest first. */
  readonly samples: readonly Sample[];
}

/** Measurements of all queues, by name. */
export type Meter = ReadonlyMap<string, Metered>;

export const EMPTY_METER: Meter = new Map();

const WINDOW_MS = 10_000;

/**
 * Adds a sample of every listed queue to the measurements. `now` is in milliseconds of a clock that never goes
 * back.
 */
export function metered(before: Meter, queues: readonly ListedQueue[], now: number): Meter {
  return new Map(
    queues.map((queue) => [
      queue.name,
      follow(before.get(queue.name), queue, { now, isFirst: before.size === 0 }),
    ]),
  );
}

interface Reading {
  readonly now: number;
  /**
   * Whether there was no previous sample, or it contained no queue. Then it is unknown for how long the first
   * entries have been first.
   */
  readonly isFirst: boolean;
}

function follow(before: Metered | undefined, queue: ListedQueue, { now, isFirst }: Reading): Metered {
  const sample = { at: now, left: queue.left };
  if (!before || before.queue.left > queue.left)
    return { queue, frontSince: now, frontIsOld: isFirst, samples: [sample] };
  const recent = before.samples.filter((_sample, place, all) => {
    const next = all[place + 1];
    // Keeps one sample of the queue that is older than ten seconds, so that the rates cover the last ten
    // seconds completely.
    return next === undefined || now - next.at < WINDOW_MS;
  });
  const samples = [...recent, sample];
  if (before.queue.front !== queue.front) return { queue, frontSince: now, frontIsOld: false, samples };
  return { ...before, queue, samples };
}

/** Computes the rows of `queuelock top` for the time `now`. */
export function rowsOf(meter: Meter, now: number): readonly QueueRow[] {
  return [...meter.values()].map(({ queue, frontSince, frontIsOld, samples }) => {
    const [first] = samples;
    const spanMs = first ? now - first.at : 0;
    const left = first ? queue.left - first.left : 0;
    const turnMs = left > 0 ? spanMs / left : undefined;
    return {
      name: queue.name,
      depth: queue.depth,
      handOffsPerS: spanMs > 0 ? (left * 1_000) / spanMs : 0,
      heldMs: Math.round(now - frontSince),
      heldLonger: frontIsOld,
      turnMs: turnMs === undefined ? undefined : Math.round(turnMs),
      waitMs: turnMs === undefined ? undefined : Math.round(turnMs * queue.depth),
    };
  });
}
