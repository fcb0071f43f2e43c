import type { AdmissionRule, Departure, EntriesAhead, LocalWait } from '@queuelock/core/backend';
import type { Contender } from '../queue/entries.ts';
import type { OwnEntry } from '../entry/entry.ts';
import type { SharedListener } from '../entry/entry-state.ts';
import type { SessionContext } from '../server/session-context.ts';
import type { Observer, Subscribable, Unsubscribable } from '../base/rx.ts';
import type { Removal, RemovalObserver } from '../server/node-watch.ts';

/**
 * An entry that waits or holds, with the data from which its turns are computed. It contains no complete position, since that would keep all entries
 * ahead in memory.
 */
export interface Waiter {
  readonly context: SessionContext;
  readonly entry: OwnEntry;
  /**
   * The path that the entry's node had after the enqueue. It may change; `pathOf` returns the present path.
   */
  readonly path: string;
  /** Whether the entry was a shared one after the enqueue. */
  readonly shared: boolean;
  readonly rule: AdmissionRule;
  /** The entries ahead on which the next turn depends. */
  readonly ahead: EntriesAhead<Contender>;
}

/**
 * Emits once when the conflicting entry no longer blocks the waiter's entry: it was removed, or the waiter's entry was converted to a reader. It
 * accepts one subscriber. Emits `undefined` if the queue must be read again to know what happened:
 * - The conflicting entry may have been converted to a reader at the same position.
 * - A read has found the conflicting entry removed, but no watch reported that, so other events may have been missed too.
 * - The conflicting entry belonged to the waiter's own session, and this client has not removed it. Probably the session has ended, and the waiter's
 *   entry with it.
 */
export class ConflictEnd
  implements Subscribable<Departure | undefined>, RemovalObserver, SharedListener, Unsubscribable
{
  readonly #conflicting: Contender;
  readonly #waiter: Waiter;
  readonly #path: string;
  #observer: Partial<Observer<Departure | undefined>> | undefined;
  #local: LocalWait | undefined;

  constructor(conflicting: Contender, waiter: Waiter) {
    this.#conflicting = conflicting;
    this.#waiter = waiter;
    this.#path = `${waiter.entry.location.directory}/${conflicting.name}`;
  }

  subscribe(observer: Partial<Observer<Departure | undefined>>): Unsubscribable {
    const { context, entry } = this.#waiter;
    this.#observer = observer;
    this.#local = context.followed.follow(this.#path);
    entry.addSharedListener(this);
    context.watches.add(this.#path, this);
    return this;
  }

  unsubscribe(): void {
    // Forgets the observer, because the watch may still notify this object. A watch notifies all observers
    // that it had at the removal, even an observer that was unsubscribed meanwhile.
    this.#observer = undefined;
    this.#local?.unfollow();
    this.#waiter.entry.deleteSharedListener(this);
    this.#waiter.context.watches.delete(this.#path, this);
  }

  /** Called when the conflicting entry was removed. */
  next(removal: Removal): void {
    const isOwner = this.#local?.owned === true;
    this.#emit(isOwner ? { owned: true } : this.#hasLeft(removal) ? {} : undefined);
  }

  error(cause: unknown): void {
    this.#observer?.error?.(cause);
  }

  /** Called when the waiter's own entry was converted to a reader. */
  shared(): void {
    this.#emit(undefined);
  }

  #emit(departure: Departure | undefined): void {
    this.#observer?.next?.(departure);
    this.#observer?.complete?.();
  }

  #hasLeft({ observed, own, unwritten }: Removal): boolean {
    if (own && this.#local?.leaving !== true) return false;
    const { shared, entry } = this.#waiter;
    const { scheme } = entry.location;
    const mayConvert = !this.#conflicting.shared && !shared && scheme.shared !== undefined;
    return mayConvert ? unwritten && !scheme.convertsWithoutWrite : observed;
  }
}
