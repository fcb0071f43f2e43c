import { compareEpochTokens, type EpochToken } from '../epoch.ts';

/** The effects of one resource in this process. */
interface Line {
  /** The number of requests between `enter` and `leave`. The queue exists as long as there is at least one. */
  users: number;
  largest: EpochToken | undefined;
  readonly running: Set<{ readonly at: EpochToken; readonly ended: Promise<unknown> }>;
}

/** A request that has entered and not left. */
export interface Place {
  /**
   * Runs the effect after the effects of all smaller tokens have settled. Effects with the same token run concurrently.
   * @returns the value of the effect, or `undefined`, without running it, when a larger token has entered since `enter`
   */
  run<T>(
    at: EpochToken,
    effect: () => T | PromiseLike<T>,
  ): Promise<{ readonly value: Awaited<T> } | undefined>;
  /** Leaves the queue. Call it in every case. */
  leave(): void;
}

/** Orders effects by their tokens, with one queue for each resource. */
export class Lines {
  readonly #lines = new Map<string, Line>();

  /** The number of resources that have requests now. */
  get size(): number {
    return this.#lines.size;
  }

  /** Enters the queue of a resource. Call it before the maximum is read, so that a larger token that passes in between is noticed. */
  enter(resource: string): Place {
    const line = this.#lines.get(resource) ?? { users: 0, largest: undefined, running: new Set() };
    this.#lines.set(resource, line);
    line.users += 1;
    return {
      run: (at, effect) => runInLine(line, at, effect),
      leave: () => {
        line.users -= 1;
        if (line.users === 0) this.#lines.delete(resource);
      },
    };
  }
}

async function runInLine<T>(
  line: Line,
  at: EpochToken,
  effect: () => T | PromiseLike<T>,
): Promise<{ readonly value: Awaited<T> } | undefined> {
  if (line.largest !== undefined && compareEpochTokens(at, line.largest) < 0) return undefined;
  line.largest = at;
  const smaller = [...line.running].filter((other) => compareEpochTokens(other.at, at) < 0);
  await Promise.allSettled(smaller.map(({ ended }) => ended));
  // A larger token may have entered during the wait. It did not wait for this effect, which was not running yet.
  if (compareEpochTokens(at, line.largest) < 0) return undefined;
  const ended = (async () => effect())();
  const running = { at, ended };
  line.running.add(running);
  try {
    return { value: await ended };
  } finally {
    line.running.delete(running);
  }
}
