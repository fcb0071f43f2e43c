import type { Clock } from '@queuelock/core';
import { Refused } from '../refusal.ts';
import { WatchedQueue, type WatchTools } from './watched-queue.ts';

/** Dependencies of `WatchedQueues`. */
export interface WatchedQueuesTools extends WatchTools {
  readonly clock: Clock;
  /** Time in milliseconds for which a queue without readers is still watched. */
  readonly lingerMs: number;
  /** Largest number of queues watched at a time. */
  readonly most: number;
}

interface Watched {
  readonly queue: WatchedQueue;
  lookers: number;
  /** Cancels the timer that ends the watch. */
  cancel: () => void;
}

/** The queues that have readers, or had some recently. Each is watched once. */
export class WatchedQueues {
  readonly #tools: WatchedQueuesTools;
  /** Queues by name, the least recently left first. */
  readonly #queues = new Map<string, Watched>();

  constructor(tools: WatchedQueuesTools) {
    this.#tools = tools;
  }

  /**
   * Watches a queue until the returned function is called.
   * @throws {Refused} when too many queues are watched; `INVALID_ARGUMENT` for a name that the store cannot represent.
   */
  look(name: string): readonly [WatchedQueue, () => void] {
    const watched = this.#queues.get(name) ?? this.#begin(name);
    watched.lookers += 1;
    watched.cancel();
    let isLooking = true;
    return [
      watched.queue,
      () => {
        if (!isLooking) return;
        isLooking = false;
        watched.lookers -= 1;
        if (watched.lookers === 0) this.#linger(name, watched);
      },
    ];
  }

  /** Returns a queue that has readers. */
  get(name: string): WatchedQueue | undefined {
    return this.#queues.get(name)?.queue;
  }

  close(): void {
    for (const [name, watched] of this.#queues) this.#end(name, watched);
  }

  #begin(name: string): Watched {
    if (this.#queues.size >= this.#tools.most) this.#makeRoom();
    const watched = { queue: new WatchedQueue(name, this.#tools), lookers: 0, cancel: () => undefined };
    this.#queues.set(name, watched);
    return watched;
  }

  #makeRoom(): void {
    const idle = [...this.#queues].find(([, { lookers }]) => lookers === 0);
    if (!idle) {
      const most = String(this.#tools.most);
      throw new Refused(503, 'UNAVAILABLE', `the bridge watches ${most} queues already, its limit`);
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
