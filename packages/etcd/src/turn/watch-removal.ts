import type { LocalWaiters } from '@queuelock/core/backend';
import type { IEvent } from '../protocol/messages.ts';
import type { KeyRef } from '../queue/ahead.ts';
import type { Lookups } from '../server/lookups.ts';
import type { Observer, Subscribable, Unsubscribable } from '../base/rx.ts';
import { ConditionWatch, type Condition, type ReadResult, type WatchTools } from './condition-watch.ts';
import type { WatchTarget } from '../server/watches.ts';

/** The parts by which a waiter notices the removal of a key: watches, batched reads (`lookups`), and the waiters of this process. */
export interface RemovalTools extends WatchTools {
  readonly lookups: Lookups;
  /** The waiters of this process, by the entries for which they wait. */
  readonly followed: LocalWaiters;
}

/** The filters of a watch that is to report only deletions. */
export const WITHOUT_PUTS: NonNullable<WatchTarget['filters']> = ['Noput'];

/**
 * Emits once when the key is removed, or at once if it was removed before. The value is the store's revision at the removal, or a later one. The
 * first read waits up to 20 ms to share a batch with other reads. The result accepts one subscriber.
 */
export function watchRemoval(ref: KeyRef, tools: RemovalTools): Subscribable<bigint> {
  return new Removal(ref, tools);
}

class Removal implements Condition, Subscribable<bigint> {
  readonly isSoon = false;
  readonly #ref: KeyRef;
  readonly #tools: RemovalTools;
  #observer: Partial<Observer<bigint>> | undefined;

  constructor(ref: KeyRef, tools: RemovalTools) {
    this.#ref = ref;
    this.#tools = tools;
  }

  get target(): WatchTarget {
    return { key: this.#ref.key, filters: WITHOUT_PUTS };
  }

  subscribe(observer: Partial<Observer<bigint>>): Unsubscribable {
    this.#observer = observer;
    return new ConditionWatch(this, this.#tools);
  }

  isMetBy(event: IEvent): boolean {
    return isEndOf(this.#ref, event);
  }

  async read(isNeeded: () => boolean): Promise<ReadResult> {
    const { exists, revision } = await this.#tools.lookups.read(this.#ref, { mayWait: true, isNeeded });
    return { hasHappened: !exists, at: revision };
  }

  met(at: bigint): void {
    this.#observer?.next?.(at);
    this.#observer?.complete?.();
  }
}

/**
 * Returns whether the event shows that the key of an entry no longer exists. The create revision identifies the entry: a member that lags behind may
 * first deliver events of an earlier entry with the same key.
 */
export function isEndOf({ createRevision }: KeyRef, { type, kv }: IEvent): boolean {
  return BigInt(type === 'Delete' ? kv.mod_revision : kv.create_revision) > BigInt(createRevision);
}
