import type { Clock } from '../base/clock.ts';
import type { ListedQueue } from '../api/store-facts.ts';

/** A queue as it was read from a store that numbers the entries of each queue. */
export interface FoundQueue extends Omit<ListedQueue, 'left'> {
  /** Number of entries that have joined since the queue was created. A store may delete an empty queue and create it again. */
  readonly joined: number;
}

interface Known extends Pick<FoundQueue, 'depth' | 'joined'> {
  readonly left: number;
  readonly seenAt: number;
}

// For how long the counts of a queue that no longer exists are stored, in milliseconds. It is long enough for
// an observer that reads rarely, and so short that names that are used only once do not fill the memory.
const REMEMBERED_MS = 60_000;

/**
 * Counts the entries that left each queue between reads, for a backend that polls. The store numbers the entries of each queue, so the number of
 * entries that joined between two reads is known. A queue that is not found any more is forgotten after a minute.
 */
export class DepartureCounter {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the queues that were found, each with the number of entries that left since it was first found. */
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
    // If the number of joined entries is smaller than before, the store has created the queue again. Then all entries of the earlier queue have left.
    const newcomers = joined >= before.joined ? joined - before.joined : joined;
    return before.left + Math.max(0, before.depth + newcomers - depth);
  }
}
