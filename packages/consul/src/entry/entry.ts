// Chapter entry: how does an entry get into its queue, and how does it leave?
// One entry of a session (here), entering (entering), and traces of holds (traces).

import { entryLost, type EntrySpec, type QueueLockError } from '@queuelock/core/backend';
import { Lane } from '../base/lane.ts';
import { Subject, type Observable } from '../base/rx.ts';
import type { Contender } from '../queue/entries.ts';

/** Whether an entry is in its queue, as far as this process knows. */
export type EntryState =
  /** No request has been sent that could add it. */
  | 'absent'
  /** A request was sent and its outcome is unknown. */
  | 'uncertain'
  /** An earlier process may have added it. It cannot add it any more. */
  | 'unread'
  /** It was in the queue when the last request for it was answered. */
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

  /** Whether its removal was requested. */
  get isWithdrawn(): boolean {
    return this.#withdrawn;
  }

  /** Records the properties with which it is stored. */
  found({ shared, permits, limit }: Pick<Contender, 'shared' | 'permits' | 'limit'>): void {
    Object.assign(this, { shared, permits, limit, state: 'placed' });
  }

  /** Its own removal is no loss: nothing is reported from now on. */
  withdraw(): void {
    this.#withdrawn = true;
    this.#ends$.complete();
  }

  /** Reports its loss. */
  lose(error: QueueLockError = entryLost(this.id)): void {
    this.#ends$.error(error);
  }
}
