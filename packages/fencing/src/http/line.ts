import { compareEpochTokens, type EpochToken } from '../epoch.ts';

/** The effects on one resource in this process. */
interface Line {
  /** Those who are between `enter` and the end of their effect. The line is kept as long as there are any. */
  users: number;
  largest: EpochToken | undefined;
  readonly running: Set<{ readonly at: EpochToken; readonly ended: Promise<unknown> }>;
}

/** Of a request that entered and has not ended. */
export interface Place {
  /**
   * Runs the effect once those of all smaller tokens have ended. `undefined`, without running it, when a larger token was
   * here since `enter`. Effects with the same token run side by side.
   */
  run<T>(
    at: EpochToken,
    effect: () => T | PromiseLike<T>,
  ): Promise<{ readonly value: Awaited<T> } | undefined>;
  /** Leaves, whatever happened. */
  leave(): void;
}

/** Puts effects in the order of their tokens, a line for each resource. */
export class Lines {
  readonly #lines = new Map<string, Line>();

  /** How many resources have requests now. */
  get size(): number {
    return this.#lines.size;
  }

  /** Before the maximum is asked: so a larger token that passes meanwhile is not missed. */
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
  // A larger one may have come meanwhile; it did not wait for this one, which was not running.
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
