// The folder entry answers: how does an entry get into its queue, and how does it leave?
// One entry of a session (this file), entering (entering.ts), and traces of holds (traces.ts).

import { entryLost, type EntrySpec, type QueueLockError } from '@queuelock/core/backend';
import { Lane } from '../base/lane.ts';
import { Subject, type Observable } from '../base/rx.ts';
import type { Contender } from '../queue/entries.ts';

/** Whether an entry is in its queue, as far as this process knows. */
export type EntryState =
  /** No request has been sent that could add the entry. */
  | 'absent'
  /** A request to add the entry was sent, and its outcome is unknown. */
  | 'uncertain'
  /** An earlier process may have added the entry. That process cannot add it any more. */
  | 'unread'
  /** The entry was in the queue when the last request for it got a response. */
  | 'placed';

/** One entry of a session. Its calls run one after the other. */
export class Entry {
  readonly queue: string;
  readonly id: string;
  readonly key: string;
  /** The key that clients without a queue lock for this queue, if they do. */
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

  /** Errors when the entry is lost; completes when it is being removed by its own session. */
  get ends$(): Observable<never> {
    return this.#ends$;
  }

  /** Whether the removal of the entry was requested. */
  get isWithdrawn(): boolean {
    return this.#withdrawn;
  }

  /** Records the properties with which the entry is stored. */
  found({ shared, permits, limit }: Pick<Contender, 'shared' | 'permits' | 'limit'>): void {
    Object.assign(this, { shared, permits, limit, state: 'placed' });
  }

  /** Records that the removal was requested. The entry's own removal is no loss, so nothing is reported from now on. */
  withdraw(): void {
    this.#withdrawn = true;
    this.#ends$.complete();
  }

  /** Reports the loss of the entry. */
  lose(error: QueueLockError = entryLost(this.id)): void {
    this.#ends$.error(error);
  }
}
