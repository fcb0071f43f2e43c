import { isQueueLockError } from '../api/errors.ts';
import type { EntrySpec } from '../api/spi.ts';

/** What names an entry of a session before the store has given it a number. */
export type EntryName = Pick<EntrySpec, 'queue' | 'id'>;

/** Entries of which an enqueue may still come: while it has no answer, and for ever if it has none that is sure. */
export class PendingEnqueues {
  /** How many calls have no answer yet, Infinity once one never had any. */
  readonly #calls = new Map<string, number>();

  /** Whether the entry may still appear in the queue. */
  has(entry: EntryName): boolean {
    return this.#calls.has(fieldOf(entry));
  }

  /** Marks the entry as removed in a way that rejects requests still in flight. */
  settle(entry: EntryName): void {
    if (this.#calls.get(fieldOf(entry)) === Infinity) this.#calls.delete(fieldOf(entry));
  }

  /** Requests entries. `ask` rejects with `UNAVAILABLE` where it is not known whether they will come. */
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
