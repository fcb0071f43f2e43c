// Chapter turn: whose turn is it, and why am I waiting for that one?
// The store decides, in its functions; here: those of this process who wait to hear. fronts: who looks first. lookers: who looks on.

import { QueueLockError, type Turn } from '@queuelock/core/backend';
import { Observable } from '../base/rx.ts';

/** What is known of an entry: whether it is admitted, or with what code it is gone. */
type Sight = boolean | 'ENTRY_LOST' | 'SESSION_LOST';

/** An entry as the store answered it. */
export interface Placed {
  readonly queue: string;
  readonly id: string;
  readonly ord: number;
  readonly key: string;
  readonly turn: Turn;
  /** Calls are numbered: looks that were asked for before this one do not know the entry. */
  readonly call: number;
}

interface Known extends Placed {
  /** Of the newest call when the sight was news: looks that were asked for later know better. */
  seenAt: number;
  sight: Sight;
  readonly follow: Set<(sight: Sight) => void>;
}

/** News of an entry, or of the session itself. */
export interface Heard {
  readonly kind: string;
  readonly ord: number;
  /** The newest call when it was heard. */
  readonly call: number;
}

/** The entries of one session in this process, and those who follow their turns. */
export class Followers {
  readonly #known = new Map<number, Known>();
  readonly #ords = new Map<string, number>();
  /** What was heard of entries whose places are still on their way. */
  readonly #early = new Map<number, { readonly sight: Sight; readonly call: number }>();
  #onTheirWay = 0;

  /** Whether one of them waits in that queue. */
  waitsIn(queue: string): boolean {
    return [...this.#known.values()].some((known) => known.queue === queue && known.sight === false);
  }

  /** While places are asked for. */
  async meanwhile<T>(asking: () => Promise<T>): Promise<T> {
    this.#onTheirWay += 1;
    try {
      return await asking();
    } finally {
      this.#onTheirWay -= 1;
      if (this.#onTheirWay === 0) this.#early.clear();
    }
  }

  /** The turns of an entry, as in `Placement.turns$`. */
  place(placed: Placed): Observable<Turn> {
    const before = this.#known.get(placed.ord);
    const early = this.#early.get(placed.ord);
    this.#early.delete(placed.ord);
    const known: Known = {
      ...placed,
      seenAt: Math.max(placed.call, before?.seenAt ?? 0, early?.call ?? 0),
      sight: placed.turn.admitted,
      follow: before?.follow ?? new Set(),
    };
    this.#known.set(placed.ord, known);
    this.#ords.set(fieldOf(placed), placed.ord);
    if (before?.sight === true) this.#show(known, true);
    if (early) this.#show(known, early.sight);
    return turnsOf(known, placed);
  }

  hear({ kind, ord, call }: Heard): void {
    if (kind === 'ended') this.lose();
    else this.#sight(ord, kind === 'admitted' ? true : 'ENTRY_LOST', call);
  }

  /** The sums of the numbers of all entries and of those that wait, which show whether the store knows the same. */
  get sums(): { readonly there: bigint; readonly waiting: bigint } {
    let [there, waiting] = [0n, 0n];
    for (const { ord, sight } of this.#known.values()) {
      there += BigInt(ord);
      if (sight === false) waiting += BigInt(ord);
    }
    return { there, waiting };
  }

  get anyWaits(): boolean {
    return [...this.#known.values()].some(({ sight }) => sight === false);
  }

  knows(ord: number): boolean {
    return this.#known.has(ord);
  }

  /**
   * All entries as they are, looked at by the call of that number: by order, whether it is admitted. One that was and is not any more is
   * lost: the store has forgotten it, and may admit others.
   */
  look(call: number, seen: ReadonlyMap<number, boolean>): void {
    for (const [ord, known] of [...this.#known]) {
      if (known.seenAt >= call) continue;
      const isAdmitted = seen.get(ord);
      const isLost = isAdmitted === undefined || (known.sight === true && !isAdmitted);
      this.#show(known, isLost ? 'ENTRY_LOST' : isAdmitted);
    }
  }

  /** It has left. */
  leave(queue: string, id: string): Placed | undefined {
    const known = this.#known.get(this.#ords.get(fieldOf({ queue, id })) ?? 0);
    if (known) this.#show(known, 'ENTRY_LOST');
    return known;
  }

  /** The session has ended. */
  lose(): void {
    for (const known of [...this.#known.values()]) this.#show(known, 'SESSION_LOST');
  }

  #sight(ord: number, sight: Sight, call: number): void {
    const known = this.#known.get(ord);
    if (known) {
      known.seenAt = call;
      this.#show(known, sight);
    } else if (this.#onTheirWay > 0) this.#early.set(ord, { sight, call });
  }

  #show(known: Known, sight: Sight): void {
    // There is no way back to waiting: a look may be older than the news.
    if (sight === false || sight === known.sight) return;
    known.sight = sight;
    if (typeof sight === 'string') {
      this.#known.delete(known.ord);
      this.#ords.delete(fieldOf(known));
    }
    for (const follow of [...known.follow]) follow(sight);
  }
}

function fieldOf({ queue, id }: Pick<Placed, 'queue' | 'id'>): string {
  return `${id}/${queue}`;
}

function turnsOf(known: Known, { turn, key }: Placed): Observable<Turn> {
  return new Observable((subscriber) => {
    let waits = !turn.admitted;
    const follow = (sight: Sight): void => {
      if (typeof sight === 'string')
        subscriber.error(new QueueLockError(sight, `the entry ${key} is not in the queue any more`));
      else if (sight && waits) {
        waits = false;
        subscriber.next({ admitted: true, ahead: 0 });
      }
    };
    known.follow.add(follow);
    subscriber.add(() => {
      known.follow.delete(follow);
    });
    subscriber.next(turn);
    if (known.sight !== turn.admitted) follow(known.sight);
  });
}
