import type { Clock } from '@queuelock/core';
import { Refused } from '../refusal.ts';
import { WatchedQueue, type WatchTools } from './watched-queue.ts';

/** What the queues are watched with. */
export interface WatchedQueuesTools extends WatchTools {
  readonly clock: Clock;
  /** How long one is watched that nobody looks at any more. */
  readonly lingerMs: number;
  /** Watched at a time, at most. */
  readonly most: number;
}

interface Watched {
  readonly queue: WatchedQueue;
  lookers: number;
  /** Of the linger. */
  cancel: () => void;
}

/** The queues that somebody looks at, or has looked at lately: each is watched once. */
export class WatchedQueues {
  readonly #tools: WatchedQueuesTools;
  /** Those left longest ago first. */
  readonly #queues = new Map<string, Watched>();

  constructor(tools: WatchedQueuesTools) {
    this.#tools = tools;
  }

  /**
   * Looks at a queue until the second answer is called.
   * @throws {Refused} when too many are watched; `INVALID_ARGUMENT` for a name that the store cannot have.
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

  /** Of one that somebody looks at. */
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
