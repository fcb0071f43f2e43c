import { labelFromOwner, type Departure, type LocalWait, type AdmissionRule } from '@queuelock/core/backend';
import type { IEvent } from '../protocol/messages.ts';
import { creationId, type ConflictingEntry } from '../queue/ahead.ts';
import type { Entry } from '../entry/entry.ts';
import type { Successor, Successors } from './successors.ts';
import { merge, take, type Observer, type Subscribable, type Unsubscribable } from '../base/rx.ts';
import { observableOf } from '../base/observable-of.ts';
import { ConditionWatch, type Condition, type ReadResult } from './condition-watch.ts';
import { WITHOUT_PUTS, isEndOf, type RemovalTools } from './watch-removal.ts';
import type { WatchTarget } from '../server/watches.ts';

/** An entry that waits until an entry that conflicts with it is removed. */
export interface Waiter {
  readonly entry: Entry;
  readonly rule: AdmissionRule;
  readonly context: RemovalTools & { readonly successors: Successors };
}

const WITHOUT_DELETIONS: NonNullable<WatchTarget['filters']> = ['Nodelete'];

/**
 * Emits once when the conflicting entry, for which the waiter waits, is removed or does not conflict any more. Emits `undefined` in two cases, in
 * which the waiter must read the queue. In the first case, the conflicting entry was converted to a shared one. In the second, the entry was one of
 * this session, and this process did not remove it. The lease has then probably ended, and with it the waiter's own entry. The result accepts one
 * subscriber.
 * @param isSoon whether the waiter may be admitted soon. It then reads several times, because a new watch may report the removal late
 */
export function watchConflictEnd(
  conflicting: ConflictingEntry,
  waiter: Waiter,
  isSoon: boolean,
): Subscribable<Departure | undefined> {
  const departure = new DepartureOfEntry(conflicting, waiter, isSoon);
  if (!conflicting.mark) return departure;
  const shared = new MarkAppearance(conflicting.mark, waiter.context, isSoon);
  return merge(observableOf(departure), observableOf(shared)).pipe(take(1));
}

/**
 * Waits for the removal of the conflicting entry's key. Then emits whether the holder of that entry had announced that no other entry was ahead of
 * it; see `owning.ts`. It sends the first read at once. It is one object without closures, since each waiter has one.
 */
class DepartureOfEntry implements Condition, Successor, Subscribable<Departure | undefined>, Unsubscribable {
  readonly isSoon: boolean;
  readonly #conflicting: ConflictingEntry;
  readonly #waiter: Waiter;
  readonly #creation: string;
  readonly #isOfSameSession: boolean;
  #observer: Partial<Observer<Departure | undefined>> | undefined;
  #local: LocalWait | undefined;
  #watch: ConditionWatch | undefined;
  #hasAnnounced = false;
  /** The fencing token of the waiter's grant, if the conflicting entry has handed its hold over to the waiter. */
  #grantAt: bigint | undefined;

  constructor(conflicting: ConflictingEntry, waiter: Waiter, isSoon: boolean) {
    this.isSoon = isSoon;
    this.#conflicting = conflicting;
    this.#waiter = waiter;
    this.#creation = creationId(conflicting);
    this.#isOfSameSession = waiter.entry.isOfSameSession(conflicting.key);
  }

  get target(): WatchTarget {
    const { key, mayAnnounce } = this.#conflicting;
    return mayAnnounce ? { key } : { key, filters: WITHOUT_PUTS };
  }

  subscribe(observer: Partial<Observer<Departure | undefined>>): Unsubscribable {
    const { followed, successors } = this.#waiter.context;
    this.#observer = observer;
    this.#local = followed.follow(this.#creation);
    if (this.#isOfSameSession && maySucceed(this.#waiter)) successors.register(this.#creation, this);
    this.#watch = new ConditionWatch(this, this.#waiter.context);
    return this;
  }

  unsubscribe(): void {
    this.#local?.unfollow();
    this.#waiter.context.successors.unregister(this.#creation, this);
    this.#watch?.unsubscribe();
  }

  // --- Members of `Condition`, which the watch of the key uses.

  isMetBy(event: IEvent): boolean {
    return isEndOf(this.#conflicting, event);
  }

  async read(isNeeded: () => boolean): Promise<ReadResult> {
    const { exists, revision } = await this.#waiter.context.lookups.read(this.#conflicting, { isNeeded });
    return { hasHappened: !exists, at: revision };
  }

  onEvent({ type, kv }: IEvent): void {
    const isOfIt = type === 'Put' && kv.create_revision === this.#conflicting.createRevision;
    this.#hasAnnounced ||= isOfIt && labelFromOwner(kv.value.toString()) !== undefined;
  }

  met(at: bigint): void {
    const { leaving = false, owned = false } = this.#local ?? {};
    const isUnexplained = this.#isOfSameSession && !leaving;
    this.#observer?.next?.(
      isUnexplained ? undefined : { owned: this.#hasAnnounced || owned, at: this.#grantAt ?? at },
    );
    this.#observer?.complete?.();
  }

  // --- Members of `Successor`, for a conflicting entry of the same session that hands its hold over.

  get entry(): Entry {
    return this.#waiter.entry;
  }

  notify(at: bigint, now: boolean): void {
    this.#grantAt = at;
    if (now) this.met(at);
  }
}

/**
 * Returns whether the waiter's entry is exclusive with a limit of 1. It then waits for its predecessor only, and no other entry waits for that
 * predecessor.
 */
function maySucceed({ entry, rule }: Waiter): boolean {
  return !entry.shared && rule.limit === 1;
}

/** Waits for the mark that converts the conflicting entry to a shared one; see `marks.ts`. */
class MarkAppearance implements Condition, Subscribable<undefined> {
  readonly target: WatchTarget;
  readonly isSoon: boolean;
  readonly #key: Buffer;
  readonly #tools: RemovalTools;
  #observer: Partial<Observer<undefined>> | undefined;

  constructor(key: Buffer, tools: RemovalTools, isSoon: boolean) {
    this.target = { key, filters: WITHOUT_DELETIONS };
    this.isSoon = isSoon;
    this.#key = key;
    this.#tools = tools;
  }

  subscribe(observer: Partial<Observer<undefined>>): Unsubscribable {
    this.#observer = observer;
    return new ConditionWatch(this, this.#tools);
  }

  isMetBy({ type }: IEvent): boolean {
    return type === 'Put';
  }

  async read(isNeeded: () => boolean): Promise<ReadResult> {
    const { exists, revision } = await this.#tools.lookups.read({ key: this.#key }, { isNeeded });
    return { hasHappened: exists, at: revision };
  }

  met(): void {
    this.#observer?.next?.(undefined);
    this.#observer?.complete?.();
  }
}
