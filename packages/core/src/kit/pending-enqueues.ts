import { isQueueLockError } from '../api/errors.ts';
import type { EntrySpec } from '../api/spi.ts';

/** Identifies an entry of a session before the store has assigned its order number. */
export type EntryName = Pick<EntrySpec, 'queue' | 'id'>;

/**
 * Tracks entries that may still appear in a queue. An entry may appear while its enqueue has no reply, and after a reply that leaves the outcome
 * unknown.
 */
export class PendingEnqueues {
  /** Number of enqueue calls without a reply, by entry. It is Infinity when the outcome of a call stays unknown. */
  readonly #calls = new Map<string, number>();

  /** Whether the entry may still appear in the queue. */
  has(entry: EntryName): boolean {
    return this.#calls.has(fieldOf(entry));
  }

  /** Records that the entry was removed. The removal in the store also rejects requests for the entry that arrive later. */
  settle(entry: EntryName): void {
    if (this.#calls.get(fieldOf(entry)) === Infinity) this.#calls.delete(fieldOf(entry));
  }

  /** Sends a request that enqueues the entries, and tracks them meanwhile. `request` must reject with `UNAVAILABLE` when the outcome is unknown. */
  async track<T>(entries: readonly EntryName[], request: () => Promise<T>): Promise<T> {
    this.#count(entries, 1);
    try {
      const response = await request();
      this.#count(entries, -1);
      return response;
    } catch (error) {
      this.#count(entries, isQueueLockError(error, 'UNAVAILABLE') ? Infinity : -1);
      throw error;
    }
  }

  #count(entries: readonly EntryName[], change: number): void {
    for (const field of entries.map(fieldOf)) {
      const left = (this.#calls.get(field) ?? 0) + change;
      if (left > 0) this.#calls.set(field, left);
      else this.#calls.delete(field);
    }
  }
}

/** Returns one text that identifies the entry by its queue and id. */
export function fieldOf({ queue, id }: EntryName): string {
  return `${id}/${queue}`;
}
