// Chapter turn: whose turn is it, and why am I waiting for that one?
// The store decides, in its procedures; here: those of this process who wait to hear. waiting, rounds: when they ask. lookers: who looks on.

import { QueueLockError, type Turn } from '@queuelock/core/backend';
import { Observable } from '../base/rx.ts';

/** What is known of an entry: whether it is admitted, or with what code it is gone. */
type Sight = boolean | 'ENTRY_LOST' | 'SESSION_LOST';

/** An entry as the store answered it. */
export interface Placed {
  readonly queue: string;
  readonly id: string;
  readonly shared: boolean;
  readonly limit: number;
  readonly ord: string;
  readonly key: string;
  readonly turn: Turn;
  /** Calls are numbered: looks that were asked for before this one do not know the entry. */
  readonly call: number;
}

interface Known extends Placed {
  readonly seenAt: number;
  sight: Sight;
  readonly follow: Set<(sight: Sight) => void>;
}

/** The entries of one session in this process, and those who follow their turns. */
export class Followers {
  readonly #known = new Map<string, Known>();
  readonly #ords = new Map<string, string>();
  readonly #waiting = new Set<Known>();

  get size(): number {
    return this.#known.size;
  }

  /** Those that wait, in the order of their placement. */
  get waiting(): Iterable<Placed> {
    return this.#waiting;
  }

  get waits(): boolean {
    return this.#waiting.size > 0;
  }

  /** The turns of an entry, as in `Placement.turns$`. */
  place(placed: Placed): Observable<Turn> {
    const before = this.#known.get(placed.ord);
    if (before) this.#waiting.delete(before);
    const known: Known = {
      ...placed,
      seenAt: Math.max(placed.call, before?.seenAt ?? 0),
      sight: placed.turn.admitted,
      follow: before?.follow ?? new Set(),
    };
    this.#known.set(placed.ord, known);
    this.#ords.set(fieldOf(placed), placed.ord);
    if (!placed.turn.admitted) this.#waiting.add(known);
    // An answer may be older than what was heard of the entry meanwhile.
    if (before?.sight === true) this.#show(known, true);
    else if (placed.turn.admitted) for (const follow of [...known.follow]) follow(true);
    return turnsOf(known, placed);
  }

  knows(ord: string): boolean {
    return this.#known.has(ord);
  }

  /** Its turn has come. */
  admit(ord: string): void {
    const known = this.#known.get(ord);
    if (known) this.#show(known, true);
  }

  /**
   * All entries as they are, looked at by the call of that number: by order, whether it is admitted. One that was and is not any more is
   * lost: the store has forgotten it, and may admit others.
   */
  look(call: number, seen: ReadonlyMap<string, boolean>): void {
    for (const [ord, known] of [...this.#known]) {
      if (known.seenAt >= call) continue;
      const isAdmitted = seen.get(ord);
      const isLost = isAdmitted === undefined || (known.sight === true && !isAdmitted);
      this.#show(known, isLost ? 'ENTRY_LOST' : isAdmitted);
    }
  }

  /** It has left. */
  leave(queue: string, id: string): Placed | undefined {
    const known = this.#known.get(this.#ords.get(fieldOf({ queue, id })) ?? '');
    if (known) this.#show(known, 'ENTRY_LOST');
    return known;
  }

  /** The session has ended. */
  lose(): void {
    for (const known of [...this.#known.values()]) this.#show(known, 'SESSION_LOST');
  }

  #show(known: Known, sight: Sight): void {
    // There is no way back to waiting: a look may be older than the news.
    if (sight === false || sight === known.sight) return;
    known.sight = sight;
    this.#waiting.delete(known);
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
