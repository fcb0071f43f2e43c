import { turnOf, type EntrySpec, type StoredEntry, type Turn } from '@queuelock/core/backend';
import { type BehaviorSubject, Observable, Subject } from './rx.ts';

/** An entry as the server holds it. */
export interface Entry extends EntrySpec {
  readonly sessionId: string;
  /** Which client of the session asked for it last; see `Granted.tenancy`. */
  tenancy: number;
  readonly order: bigint;
  readonly key: string;
  limit: number;
  shared: boolean;
  value: string;
  turn: Turn;
  /** Why it is not in the queue any more, once it is not. */
  gone?: 'ENTRY_LOST' | 'SESSION_LOST';
  readonly turn$: BehaviorSubject<Turn>;
}

/** One queue, in the order of joining. Whoever is in `entries` is in the queue; there is no other state. */
export class Queue {
  readonly name: string;
  readonly entries: Entry[] = [];
  readonly #change$ = new Subject<readonly StoredEntry[]>();

  constructor(name: string) {
    this.name = name;
  }

  /** Nobody is in it and nobody looks at it. */
  get idle(): boolean {
    return this.entries.length === 0 && !this.#change$.observed;
  }

  find(id: string): Entry | undefined {
    return this.entries.find((entry) => entry.id === id);
  }

  take(entry: Entry): void {
    this.entries.splice(this.entries.indexOf(entry), 1);
  }

  /** Gives their turn to those whose turn it has become; answers them, front first. */
  promote(): readonly Entry[] {
    const ahead: Entry[] = [];
    const promoted: Entry[] = [];
    for (const entry of this.entries) {
      const turn = entry.turn.admitted ? entry.turn : turnBehind(ahead, entry);
      if (turn.admitted && !entry.turn.admitted) promoted.push(entry);
      // The others keep the turn that they know: only a change that matters to its owner counts as one.
      if (turn.admitted) entry.turn = turn;
      ahead.push(entry);
    }
    return promoted;
  }

  /** The queue now and at every `changed()`. */
  observe(): Observable<readonly StoredEntry[]> {
    return new Observable((subscriber) => {
      subscriber.add(this.#change$.subscribe(subscriber));
      subscriber.next(this.entries.map(seen));
    });
  }

  changed(): void {
    if (this.#change$.observed) this.#change$.next(this.entries.map(seen));
  }
}

function seen({ key, order, shared, value }: Entry): StoredEntry {
  return { key, order, shared, value };
}

/** The turn of an entry that has all these ahead. */
export function turnBehind(
  ahead: readonly Entry[],
  own: Pick<EntrySpec, 'shared' | 'limit' | 'permits'>,
): Turn {
  const refs = own.shared ? ahead.filter((entry) => !entry.shared) : ahead;
  return turnOf({ refs, total: refs.length }, own);
}

/** The limit of the nearest entry ahead that has another one than that entry. One that waits as a reader lets in nobody beside a writer. */
export function otherLimit(entries: readonly Entry[], own: Entry): number | undefined {
  if (own.shared) return undefined;
  return entries.findLast(({ order, limit }) => order < own.order && limit !== own.limit)?.limit;
}
