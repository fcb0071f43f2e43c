import type { Clock } from '../base/clock.ts';
import type { ListedQueue } from '../api/store-facts.ts';

/** A queue as a store that counts who joins finds it. */
export interface FoundQueue extends Omit<ListedQueue, 'left'> {
  /** How many have joined since the queue was made; it may be made anew whenever it is empty. */
  readonly joined: number;
}

interface Known extends Pick<FoundQueue, 'depth' | 'joined'> {
  readonly left: number;
  readonly seenAt: number;
}

// Long enough for somebody who counts once in a while, short enough for names that are used once.
const REMEMBERED_MS = 60_000;

/**
 * How many have left, from one look to the next, for a backend that looks at its queues from time to time: how many have joined between is
 * known, as the store numbers entries within their queue. What it knows of a queue that is not found any more it forgets after a minute.
 */
export class DepartureCounter {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The queues that were found now, with how many have left each since it was first found. */
  listed(queues: readonly FoundQueue[]): readonly ListedQueue[] {
    const seenAt = this.#clock.now();
    const listed = queues.map(({ joined, ...queue }) => {
      const left = this.#left(queue.name, { depth: queue.depth, joined });
      this.#known.set(queue.name, { depth: queue.depth, joined, left, seenAt });
      return { ...queue, left };
    });
    for (const [name, known] of this.#known) {
      if (seenAt - known.seenAt > REMEMBERED_MS) this.#known.delete(name);
    }
    return listed;
  }

  #left(name: string, { depth, joined }: Pick<FoundQueue, 'depth' | 'joined'>): number {
    const before = this.#known.get(name);
    if (!before) return 0;
    // A queue that was empty meanwhile counts from 1 again: all that stood in the old one have left.
    const newcomers = joined >= before.joined ? joined - before.joined : joined;
    return before.left + Math.max(0, before.depth + newcomers - depth);
  }
}
