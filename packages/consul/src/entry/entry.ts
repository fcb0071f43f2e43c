// Folder "entry": adds entries to queues, changes them, removes them, and records their holds.
// entry.ts (this file) stores what this process knows about one entry. entering.ts enqueues, changes and removes entries. traces.ts records
// holds.

import { entryLost, type EntrySpec, type QueueLockError } from '@queuelock/core/backend';
import { Lane } from '../base/lane.ts';
import { Subject, type Observable } from '../base/rx.ts';
import type { Contender } from '../queue/entries.ts';

/** What this process knows about whether an entry is in its queue. */
export type EntryState =
  /** No request has been sent that could add the entry. */
  | 'absent'
  /** A request to add the entry was sent, and its outcome is unknown. */
  | 'uncertain'
  /**
   * The session was resumed, and the process that used it before may have added the entry. That process
   * cannot add it from now on.
   */
  | 'unread'
  /** The entry was in the queue according to the latest response about it. */
  | 'placed';

/** One entry of a session. Its calls run one after another. */
export class Entry {
  readonly queue: string;
  readonly id: string;
  readonly key: string;
  /**
   * The single key of the queue, which programs such as `consul lock` use as the lock. `undefined` if the
   * queue has none.
   */
  readonly singleKey: string | undefined;
  readonly lane: Lane = new Lane();
  shared: boolean;
  permits: number;
  limit: number;
  state: EntryState = 'absent';
  readonly #ends$ = new Subject<never>();
  #withdrawn = false;

  constructor(
    { queue, id, shared, limit, permits = 1 }: EntrySpec,
    key: string,
    singleKey: string | undefined,
  ) {
    this.queue = queue;
    this.id = id;
    this.key = key;
    this.singleKey = singleKey;
    this.shared = shared;
    this.limit = limit;
    this.permits = permits;
  }

  /** Stream without values: errors when the entry is lost, completes when the entry's own session begins to remove it. */
  get ends$(): Observable<never> {
    return this.#ends$;
  }

  /** Whether this process has begun to remove the entry. */
  get isWithdrawn(): boolean {
    return this.#withdrawn;
  }

  /** Records that the entry is in its queue, with the properties that the store has stored. */
  found({ shared, permits, limit }: Pick<Contender, 'shared' | 'permits' | 'limit'>): void {
    Object.assign(this, { shared, permits, limit, state: 'placed' });
  }

  /** Records that this process removes the entry. The entry is not reported as lost from now on. */
  withdraw(): void {
    this.#withdrawn = true;
    this.#ends$.complete();
  }

  /** Reports the loss of the entry to the subscribers of `ends$`. */
  lose(error: QueueLockError = entryLost(this.id)): void {
    this.#ends$.error(error);
  }
}
