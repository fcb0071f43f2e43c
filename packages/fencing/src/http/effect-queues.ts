import { compareEpochTokens, type EpochToken } from '../epoch.ts';

/**
 * The requests for one resource whose effects, such as writes, this process runs. Effects run in the order of
 * the tokens of their requests.
 */
interface EffectQueue {
  /** The number of requests in this queue. When it becomes 0, the queue is deleted. */
  users: number;
  largest: EpochToken | undefined;
  readonly running: Set<{ readonly at: EpochToken; readonly ended: Promise<unknown> }>;
}

/** A request that has entered the queue of a resource and not left it. */
export interface QueuedEffect {
  /**
   * Runs the effect of the request after the effects of all requests with smaller tokens have settled.
   * Effects with the same token run concurrently.
   * @returns the value of the effect. `undefined`, without running the effect, when a request with a larger
   *   token has called `run` while this request was in the queue
   */
  run<T>(
    at: EpochToken,
    effect: () => T | PromiseLike<T>,
  ): Promise<{ readonly value: Awaited<T> } | undefined>;
  /**
   * Takes the request out of the queue of its resource. The caller must call this in every case, even after
   * an error.
   */
  leave(): void;
}

/** Runs the effects of requests, such as writes, in the order of the requests' tokens, separately for each resource. */
export class EffectQueues {
  readonly #queues = new Map<string, EffectQueue>();

  /** The number of resources for which requests are in a queue now. */
  get size(): number {
    return this.#queues.size;
  }

  /**
   * Adds a request to the queue of a resource. The caller must do so before it reads the largest stored token
   * of the resource. So a request with a larger token that arrives after that read is noticed.
   */
  enter(resource: string): QueuedEffect {
    const queue = this.#queues.get(resource) ?? { users: 0, largest: undefined, running: new Set() };
    this.#queues.set(resource, queue);
    queue.users += 1;
    return {
      run: (at, effect) => runInQueue(queue, at, effect),
      leave: () => {
        queue.users -= 1;
        if (queue.users === 0) this.#queues.delete(resource);
      },
    };
  }
}

async function runInQueue<T>(
  queue: EffectQueue,
  at: EpochToken,
  effect: () => T | PromiseLike<T>,
): Promise<{ readonly value: Awaited<T> } | undefined> {
  if (queue.largest !== undefined && compareEpochTokens(at, queue.largest) < 0) return undefined;
  queue.largest = at;
  const smaller = [...queue.running].filter((other) => compareEpochTokens(other.at, at) < 0);
  await Promise.allSettled(smaller.map(({ ended }) => ended));
  // During the wait, a request with a larger token may have called `run`. It did not wait for the effect of
  // this request, which was not running yet. So this effect must not run any more.
  if (compareEpochTokens(at, queue.largest) < 0) return undefined;
  const ended = (async () => effect())();
  const running = { at, ended };
  queue.running.add(running);
  try {
    return { value: await ended };
  } finally {
    queue.running.delete(running);
  }
}
