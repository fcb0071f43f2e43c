import type { Clock } from '@queuelock/core';
import { Refused } from '../refusal.ts';
import { WatchedQueue, type WatchTools } from './watched-queue.ts';

/** The parts of a bridge that `WatchedQueues` uses. */
export interface WatchedQueuesTools extends WatchTools {
  readonly clock: Clock;
  /** Time in milliseconds for which a queue is still watched when no topic needs it any more. */
  readonly lingerMs: number;
  /** Largest number of queues that are watched at the same time. */
  readonly max: number;
}

interface Watched {
  readonly queue: WatchedQueue;
  readers: number;
  /** Cancels the timer after which the queue is no longer watched. */
  cancel: () => void;
}

/** The queues that topics need, or needed recently. Each is watched once. */
export class WatchedQueues {
  readonly #tools: WatchedQueuesTools;
  /**
   * The watched queues by name. Among the queues that no topic needs, the one that has been unused for the
   * longest time comes first.
   */
  readonly #queues = new Map<string, Watched>();

  constructor(tools: WatchedQueuesTools) {
    this.#tools = tools;
  }

  /**
   * Watches a queue until the returned function is called.
   * @throws {Refused} when too many queues are watched; `INVALID_ARGUMENT` for a name that the store cannot represent.
   */
  watch(name: string): readonly [WatchedQueue, () => void] {
    const watched = this.#queues.get(name) ?? this.#begin(name);
    watched.readers += 1;
    watched.cancel();
    let isWatching = true;
    return [
      watched.queue,
      () => {
        if (!isWatching) return;
        isWatching = false;
        watched.readers -= 1;
        if (watched.readers === 0) this.#linger(name, watched);
      },
    ];
  }

  /** Returns the queue with this name if it is watched at present. */
  get(name: string): WatchedQueue | undefined {
    return this.#queues.get(name)?.queue;
  }

  close(): void {
    for (const [name, watched] of this.#queues) this.#end(name, watched);
  }

  #begin(name: string): Watched {
    if (this.#queues.size >= this.#tools.max) this.#makeRoom();
    const watched = { queue: new WatchedQueue(name, this.#tools), readers: 0, cancel: () => undefined };
    this.#queues.set(name, watched);
    return watched;
  }

  #makeRoom(): void {
    const idle = [...this.#queues].find(([, { readers }]) => readers === 0);
    if (!idle) {
      const max = String(this.#tools.max);
      throw new Refused(
        503,
        'UNAVAILABLE',
        `the bridge has reached its limit of ${max} watched queues (limits.queues)`,
      );
    }
    this.#end(...idle);
  }

  #linger(name: string, watched: Watched): void {
    if (this.#queues.get(name) !== watched) return;
    this.#queues.delete(name);
    this.#queues.set(name, watched);
    watched.cancel = this.#tools.clock.after(this.#tools.lingerMs, () => {
      this.#end(name, watched);
    });
  }

  #end(name: string, { queue, cancel }: Watched): void {
    cancel();
    queue.close();
    this.#queues.delete(name);
  }
}
