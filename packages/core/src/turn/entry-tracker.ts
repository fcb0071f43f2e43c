import { QueueLockError } from '../api/errors.ts';
import type { Turn } from '../api/spi.ts';
import { Observable } from '../base/rx.ts';
import { fieldOf } from '../kit/pending-enqueues.ts';

/** Whether an entry is admitted; or the error code with which it was lost. */
export type EntryStatus = boolean | 'ENTRY_LOST' | 'SESSION_LOST';

/** An entry of a session, as a response of the store describes it. */
export interface TrackedEntry {
  readonly queue: string;
  readonly id: string;
  /** The order number that the store gave the entry. */
  readonly ord: string | number;
  readonly key: string;
  readonly turn: Turn;
  /**
   * Sequence number of the call that entered the queue or found the entry there; later calls have larger numbers. A read that was requested before
   * that call may not include the entry.
   */
  readonly call: number;
}

/**
 * Returns the text `number/id` with which notifications of a store refer to an entry of a session. No other entry of the session ever has the same
 * text. The number alone is not enough: a store may number the entries of each queue separately, and a store that has lost its newest writes may give
 * a number again. The id alone is not enough either: a late notification may belong to an earlier entry with this id.
 */
export function refOf({ ord, id }: Pick<TrackedEntry, 'ord' | 'id'>): string {
  return `${ord}/${id}`;
}

interface Known<Placed> {
  readonly placed: Placed;
  /**
   * Sequence number of the newest call (see `TrackedEntry.call`) when the status of the entry arrived. A read with a larger number is more recent.
   */
  seenAt: number;
  status: EntryStatus;
  readonly follow: Set<(status: EntryStatus) => void>;
}

/**
 * Tracks the entries of one session, and the subscribers to their turns, for stores that decide themselves which entries are admitted. Such a store
 * reports its decisions in responses, notifications and reads of all entries, which may arrive out of order.
 */
export class EntryTracker<Placed extends TrackedEntry> {
  readonly #known = new Map<string, Known<Placed>>();
  /** The text `number/id` (see `refOf`) of each tracked entry, by its queue and id. */
  readonly #refs = new Map<string, string>();
  readonly #waiting = new Map<string, Placed>();
  /** Statuses that arrived before the responses to the enqueues of their entries, by the entry's text `number/id` (see `refOf`). */
  readonly #early = new Map<string, { readonly sight: EntryStatus; readonly call: number }>();
  #pendingEnqueues = 0;

  /** Number of tracked entries, without removed or lost ones. */
  get size(): number {
    return this.#known.size;
  }

  /** All tracked entries, in the order in which they were tracked first. */
  get all(): readonly Placed[] {
    return [...this.#known.values()].map(({ placed }) => placed);
  }

  /** The waiting entries, in the order in which they were tracked. */
  get waiting(): Iterable<Placed> {
    return this.#waiting.values();
  }

  /** Whether any entry waits, in any queue. */
  get anyWaits(): boolean {
    return this.#waiting.size > 0;
  }

  /** Returns whether any entry of the session waits in `queue`. */
  waitsIn(queue: string): boolean {
    for (const placed of this.#waiting.values()) if (placed.queue === queue) return true;
    return false;
  }

  /** Whether the entry is tracked, and neither removed nor lost. */
  has(ref: string): boolean {
    return this.#known.has(ref);
  }

  /** Runs a request that enters queues. Until it ends, keeps statuses of entries that are not tracked yet. */
  async whilePending<T>(requesting: () => Promise<T>): Promise<T> {
    this.#pendingEnqueues += 1;
    try {
      return await requesting();
    } finally {
      this.#pendingEnqueues -= 1;
      if (this.#pendingEnqueues === 0) this.#early.clear();
    }
  }

  /**
   * Starts to track an entry that the store has returned, and returns its turns; see `Placement.turns$`. A status that has arrived meanwhile may be
   * newer than the response.
   */
  track(placed: Placed): Observable<Turn> {
    const { call, turn } = placed;
    const ref = refOf(placed);
    const before = this.#known.get(ref);
    const early = this.#early.get(ref);
    this.#early.delete(ref);
    const known: Known<Placed> = {
      placed,
      seenAt: Math.max(call, before?.seenAt ?? 0, early?.call ?? 0),
      status: false,
      follow: before?.follow ?? new Set(),
    };
    this.#known.set(ref, known);
    this.#refs.set(fieldOf(placed), ref);
    this.#waiting.delete(ref);
    this.#waiting.set(ref, placed);
    this.#show(known, turn.admitted || before?.status === true);
    if (early) this.#show(known, early.sight);
    return turnsOf(known);
  }

  /**
   * Records the status of an entry from a notification. The notification refers to the entry by `refOf`.
   * @param call sequence number of the newest call when the notification arrived; see `TrackedEntry.call`
   */
  notify(ref: string, sight: EntryStatus, call: number): void {
    const known = this.#known.get(ref);
    if (known) {
      known.seenAt = call;
      this.#show(known, sight);
    } else if (this.#pendingEnqueues > 0) this.#early.set(ref, { sight, call });
  }

  /**
   * Applies the result of reading all entries: whether each entry is admitted, by its text `number/id` (see `refOf`). An entry counts as lost if the
   * result does not contain it, or if it was admitted and waits according to the result. Then the store has forgotten the entry or its admission, and
   * may admit others.
   * @param call sequence number of the call that made the read; see `TrackedEntry.call`
   */
  reconcile(call: number, seen: ReadonlyMap<string, boolean>): void {
    for (const [ref, known] of [...this.#known]) {
      if (known.seenAt >= call) continue;
      const isAdmitted = seen.get(ref);
      const isLost = isAdmitted === undefined || (known.status === true && !isAdmitted);
      this.#show(known, isLost ? 'ENTRY_LOST' : isAdmitted);
    }
  }

  /** Stops tracking an entry that has left. */
  remove(queue: string, id: string): Placed | undefined {
    const ref = this.#refs.get(fieldOf({ queue, id }));
    const known = ref === undefined ? undefined : this.#known.get(ref);
    if (known) this.#show(known, 'ENTRY_LOST');
    return known?.placed;
  }

  /** Marks all entries as lost, because the session has ended. */
  endSession(): void {
    for (const known of [...this.#known.values()]) this.#show(known, 'SESSION_LOST');
  }

  #show(known: Known<Placed>, sight: EntryStatus): void {
    // An admitted entry never waits again. If a read reports that it waits, the read is older than the
    // notification of its admission.
    if (sight === false || sight === known.status) return;
    known.status = sight;
    const ref = refOf(known.placed);
    this.#waiting.delete(ref);
    if (typeof sight === 'string') {
      this.#known.delete(ref);
      this.#refs.delete(fieldOf(known.placed));
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
        subscriber.error(new QueueLockError(sight, `the entry ${key} is no longer in the queue`));
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
