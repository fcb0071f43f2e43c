import { isQueueLockError } from '../api/errors.ts';
import type { EntrySpec } from '../api/spi.ts';

/** Identifies an entry of a session before the store has assigned its number. */
export type EntryName = Pick<EntrySpec, 'queue' | 'id'>;

/** Tracks entries that may still appear in a queue: while their enqueue has no reply, and for ever after a reply that leaves the outcome unknown. */
export class PendingEnqueues {
  /** Number of enqueue calls without a reply, by entry. It is Infinity after a call whose outcome stays unknown. */
  readonly #calls = new Map<string, number>();

  /** Whether the entry may still appear in the queue. */
  has(entry: EntryName): boolean {
    return this.#calls.has(fieldOf(entry));
  }

  /** Marks the entry as removed. The removal in the store also rejects requests for the entry that are still in flight. */
  settle(entry: EntryName): void {
    if (this.#calls.get(fieldOf(entry)) === Infinity) this.#calls.delete(fieldOf(entry));
  }

  /** Sends a request that enqueues the entries. `ask` rejects with `UNAVAILABLE` when it is unknown whether they will appear. */
  async track<T>(entries: readonly EntryName[], ask: () => Promise<T>): Promise<T> {
    this.#count(entries, 1);
    try {
      const answer = await ask();
      this.#count(entries, -1);
      return answer;
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

/** Returns one key text for queue and id. */
export function fieldOf({ queue, id }: EntryName): string {
  return `${id}/${queue}`;
}
