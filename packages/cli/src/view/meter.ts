import type { ListedQueue } from '@queuelock/core';

/** A queue as somebody sees it who has looked for a while. */
export interface QueueRow {
  readonly name: string;
  readonly depth: number;
  /** How many have left in a second, over the last ten. */
  readonly handOffsPerS: number;
  /** For how long the first entry has been seen in front, in milliseconds. */
  readonly heldMs: number;
  /** Whether it was in front already when it was first looked at, so that it may be longer. */
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
  readonly queue: ListedQueue;
  readonly frontSince: number;
  readonly frontIsOld: boolean;
  /** The earliest first. */
  readonly samples: readonly Sample[];
}

/** What is known of all queues, by name. */
export type Meter = ReadonlyMap<string, Metered>;

export const EMPTY_METER: Meter = new Map();

const WINDOW_MS = 10_000;

/** Takes in another look, at `now` milliseconds of a clock that never goes back. */
export function metered(before: Meter, queues: readonly ListedQueue[], now: number): Meter {
  return new Map(
    queues.map((queue) => [
      queue.name,
      follow(before.get(queue.name), queue, { now, isFirst: before.size === 0 }),
    ]),
  );
}

interface Look {
  readonly now: number;
  /** Nothing is known of what was before. */
  readonly isFirst: boolean;
}

function follow(before: Metered | undefined, queue: ListedQueue, { now, isFirst }: Look): Metered {
  const sample = { at: now, left: queue.left };
  if (!before || before.queue.left > queue.left)
    return { queue, frontSince: now, frontIsOld: isFirst, samples: [sample] };
  const recent = before.samples.filter((_sample, place, all) => {
    const next = all[place + 1];
    // One sample from before the window is kept: the window begins there.
    return next === undefined || now - next.at < WINDOW_MS;
  });
  const samples = [...recent, sample];
  if (before.queue.front !== queue.front) return { queue, frontSince: now, frontIsOld: false, samples };
  return { ...before, queue, samples };
}

/** The rows as they are at `now`. */
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
