import { QueueLockError } from '../api/errors.ts';
import type { Turn } from '../api/spi.ts';
import { Observable } from '../base/rx.ts';
import { fieldOf } from '../kit/pending-enqueues.ts';

/** What is known of an entry: whether it is admitted, or with what code it is gone. */
export type EntryStatus = boolean | 'ENTRY_LOST' | 'SESSION_LOST';

/** An entry of a session, as the store answered it. */
export interface TrackedEntry {
  readonly queue: string;
  readonly id: string;
  /** Its number, which no other entry of the session has or had. */
  readonly ord: string | number;
  readonly key: string;
  readonly turn: Turn;
  /** Calls are numbered: looks that were asked for before this one do not know the entry. */
  readonly call: number;
}

interface Known<Placed> {
  readonly placed: Placed;
  /** Of the newest call when the sight was news: looks that were asked for later know better. */
  seenAt: number;
  status: EntryStatus;
  readonly follow: Set<(status: EntryStatus) => void>;
}

/**
 * The entries of one session in this process, and those who follow their turns, where the store decides whose turn it is and tells it: in
 * answers, in news, and in looks at all entries, which may arrive in another order than they were true in.
 */
export class EntryTracker<Placed extends TrackedEntry> {
  readonly #known = new Map<Placed['ord'], Known<Placed>>();
  readonly #ords = new Map<string, Placed['ord']>();
  readonly #waiting = new Map<Placed['ord'], Placed>();
  /** What was heard of entries whose places are still on their way. */
  readonly #early = new Map<Placed['ord'], { readonly sight: EntryStatus; readonly call: number }>();
  #pendingEnqueues = 0;

  /** How many there are: those that have left or are lost are not known any more. */
  get size(): number {
    return this.#known.size;
  }

  /** In the order of their placement. */
  get all(): readonly Placed[] {
    return [...this.#known.values()].map(({ placed }) => placed);
  }

  /** Those that wait, in the order of their placement. */
  get waiting(): Iterable<Placed> {
    return this.#waiting.values();
  }

  /** Whether one of them waits, in whatever queue. */
  get anyWaits(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether one of them waits in that queue. */
  waitsIn(queue: string): boolean {
    for (const placed of this.#waiting.values()) if (placed.queue === queue) return true;
    return false;
  }

  /** Whether it is placed, and neither left nor lost. */
  has(ord: Placed['ord']): boolean {
    return this.#known.has(ord);
  }

  /** While places are asked for, what is heard of entries that are not known yet is kept. */
  async whilePending<T>(asking: () => Promise<T>): Promise<T> {
    this.#pendingEnqueues += 1;
    try {
      return await asking();
    } finally {
      this.#pendingEnqueues -= 1;
      if (this.#pendingEnqueues === 0) this.#early.clear();
    }
  }

  /** The turns of an entry, as in `Placement.turns$`. An answer may be older than what was heard of the entry meanwhile. */
  track(placed: Placed): Observable<Turn> {
    const { ord, call, turn } = placed;
    const before = this.#known.get(ord);
    const early = this.#early.get(ord);
    this.#early.delete(ord);
    const known: Known<Placed> = {
      placed,
      seenAt: Math.max(call, before?.seenAt ?? 0, early?.call ?? 0),
      status: false,
      follow: before?.follow ?? new Set(),
    };
    this.#known.set(ord, known);
    this.#ords.set(fieldOf(placed), ord);
    this.#waiting.delete(ord);
    this.#waiting.set(ord, placed);
    this.#show(known, turn.admitted || before?.status === true);
    if (early) this.#show(known, early.sight);
    return turnsOf(known);
  }

  /** News of an entry; `call`: the newest one when they were heard. */
  notify(ord: Placed['ord'], sight: EntryStatus, call: number): void {
    const known = this.#known.get(ord);
    if (known) {
      known.seenAt = call;
      this.#show(known, sight);
    } else if (this.#pendingEnqueues > 0) this.#early.set(ord, { sight, call });
  }

  /**
   * All entries as they are, looked at by the call of that number: by order, whether it is admitted. One that was and is not any more is
   * lost: the store has forgotten it, and may admit others.
   */
  reconcile(call: number, seen: ReadonlyMap<Placed['ord'], boolean>): void {
    for (const [ord, known] of [...this.#known]) {
      if (known.seenAt >= call) continue;
      const isAdmitted = seen.get(ord);
      const isLost = isAdmitted === undefined || (known.status === true && !isAdmitted);
      this.#show(known, isLost ? 'ENTRY_LOST' : isAdmitted);
    }
  }

  /** It has left. */
  remove(queue: string, id: string): Placed | undefined {
    const ord = this.#ords.get(fieldOf({ queue, id }));
    const known = ord === undefined ? undefined : this.#known.get(ord);
    if (known) this.#show(known, 'ENTRY_LOST');
    return known?.placed;
  }

  /** The session has ended. */
  endSession(): void {
    for (const known of [...this.#known.values()]) this.#show(known, 'SESSION_LOST');
  }

  #show(known: Known<Placed>, sight: EntryStatus): void {
    // There is no way back to waiting: a look may be older than the news.
    if (sight === false || sight === known.status) return;
    known.status = sight;
    const { ord } = known.placed;
    this.#waiting.delete(ord);
    if (typeof sight === 'string') {
      this.#known.delete(ord);
      this.#ords.delete(fieldOf(known.placed));
    }
    for (const follow of [...known.follow]) follow(sight);
  }
}

function turnsOf(known: Known<TrackedEntry>): Observable<Turn> {
  const { turn, key } = known.placed;
  return new Observable((subscriber) => {
    let waits = !turn.admitted;
    const follow = (sight: EntryStatus): void => {
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
    if (known.status !== turn.admitted) follow(known.status);
  });
}
