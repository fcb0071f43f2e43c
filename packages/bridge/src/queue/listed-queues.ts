import type { ListedQueue, QueuesState } from '@queuelock/core';
import { pictureOf } from '../pictures/entry.ts';
import type { ListedQueuePicture, QueuesPicture } from '../wire.ts';

interface Front {
  readonly order: bigint;
  readonly at: number;
  readonly longer?: true;
}

/** A list of queues, with what one has to look for a while to know: since when a front is in front. */
export class ListedQueues {
  readonly #prefix: string;
  #state: QueuesState = { status: 'connecting', queues: [] };
  #fronts: ReadonlyMap<string, Front> = new Map();
  /** Whether the list before this one was the newest all the time until now. */
  #isContinuous = false;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  look(state: QueuesState, now: number): void {
    this.#state = state;
    if (state.status === 'live')
      this.#fronts = new Map(state.queues.map((queue) => [queue.name, this.#frontOf(queue, now)]));
    this.#isContinuous = state.status === 'live';
  }

  picture(now: number, most: number): QueuesPicture {
    const { queues } = this.#state;
    return {
      ...pictureOf(this.#state, now),
      prefix: this.#prefix,
      queues: queues.slice(0, most).map((queue) => this.#listed(queue, now)),
      count: queues.length,
    };
  }

  #frontOf({ name, front }: ListedQueue, now: number): Front {
    const known = this.#fronts.get(name);
    if (known?.order === front) return known;
    return { order: front, at: now, ...(this.#isContinuous ? {} : { longer: true as const }) };
  }

  #listed({ name, depth, front, left }: ListedQueue, now: number): ListedQueuePicture {
    const { at = now, longer } = this.#fronts.get(name) ?? {};
    return {
      name,
      depth,
      front: String(front),
      left,
      frontAt: at,
      ...(longer ? { frontLonger: longer } : {}),
    };
  }
}
