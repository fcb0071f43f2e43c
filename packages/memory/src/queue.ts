import { turnOf, type EntrySpec, type StoredEntry, type Turn } from '@queuelock/core/backend';
import { Observable, Subject, type Subscriber } from './rx.ts';

/** An entry as the server stores it. */
export interface Entry extends EntrySpec {
  readonly sessionId: string;
  /**
   * Number of the client by which the entry was last enqueued. A session's first client has the number 0, and
   * each resumption of the session adds 1.
   */
  tenancy: number;
  readonly order: bigint;
  readonly key: string;
  limit: number;
  shared: boolean;
  value: string;
  turn: Turn;
  /** The reason for which the entry has left the queue. Absent while the entry is in the queue. */
  gone?: 'ENTRY_LOST' | 'SESSION_LOST';
  /** Subscribers that receive the turns of this entry. */
  readonly followers: Set<Subscriber<Turn>>;
}

/** One queue, with its entries in the order of joining. The list `entries` is its only state. */
export class Queue {
  readonly name: string;
  readonly entries: Entry[] = [];
  /**
   * Emits the entries after each change. Created for the first observer, because most queues have no observer and are dropped when they are empty.
   */
  #change$: Subject<readonly StoredEntry[]> | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Whether the queue has no entries and no observers. */
  get idle(): boolean {
    return this.entries.length === 0 && !this.#change$?.observed;
  }

  find(id: string): Entry | undefined {
    return this.entries.find((entry) => entry.id === id);
  }

  take(entry: Entry): void {
    this.entries.splice(this.entries.indexOf(entry), 1);
  }

  /** Grants the entries that have become admitted, and returns them from front to back. */
  promote(): readonly Entry[] {
    const ahead: Entry[] = [];
    const promoted: Entry[] = [];
    for (const entry of this.entries) {
      const turn = entry.turn.admitted ? entry.turn : turnBehind(ahead, entry);
      if (turn.admitted && !entry.turn.admitted) promoted.push(entry);
      // The clients of other waiting entries are not notified that fewer entries are ahead, because they
      // react only to an admission.
      if (turn.admitted) entry.turn = turn;
      ahead.push(entry);
    }
    return promoted;
  }

  /** Emits the queue's entries at once, and again after each change of the queue. */
  observe(): Observable<readonly StoredEntry[]> {
    return new Observable((subscriber) => {
      this.#change$ ??= new Subject();
      subscriber.add(this.#change$.subscribe(subscriber));
      subscriber.next(this.entries.map(seen));
    });
  }

  changed(): void {
    if (this.#change$?.observed) this.#change$.next(this.entries.map(seen));
  }
}

function seen({ key, order, shared, value }: Entry): StoredEntry {
  return { key, order, shared, value };
}

/** Returns the turn of the entry `own` in a queue in which the entries `ahead` are ahead of it. */
export function turnBehind(
  ahead: readonly Entry[],
  own: Pick<EntrySpec, 'shared' | 'limit' | 'permits'>,
): Turn {
  const refs = own.shared ? ahead.filter((entry) => !entry.shared) : ahead;
  return turnOf({ refs, total: refs.length }, own);
}

/**
 * Returns the limit of the nearest entry ahead whose limit (number of permits) differs from that of `own`.
 * Returns `undefined` if `own` is shared, because limits do not decide about a reader: it always waits for
 * writers ahead.
 */
export function otherLimit(entries: readonly Entry[], own: Entry): number | undefined {
  if (own.shared || entries.length === 1) return undefined;
  return entries.findLast(({ order, limit }) => order < own.order && limit !== own.limit)?.limit;
}
