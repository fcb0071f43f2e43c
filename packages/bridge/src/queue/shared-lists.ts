import type { Clock, LockClient, QueuesState } from '@queuelock/core';
import { after } from '@queuelock/core/backend';
import { ReplaySubject, finalize, share, type Observable } from '../rx.ts';

// A page that is drawn anew drops its lists and takes them again.
const LINGER_MS = 1_000;

/** One list of queues for all who look at those of a prefix: a long one takes its time. */
export class SharedLists {
  readonly #client: Pick<LockClient, 'queues'>;
  readonly #clock: Clock;
  readonly #lists = new Map<string, Observable<QueuesState>>();

  constructor(client: Pick<LockClient, 'queues'>, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** @throws {QueueLockError} `INVALID_ARGUMENT` for a store that has no list. */
  watch(prefix: string): Observable<QueuesState> {
    const known$ = this.#lists.get(prefix);
    if (known$) return known$;
    const list$ = this.#client.queues(prefix).pipe(
      finalize(() => this.#lists.delete(prefix)),
      share({
        connector: () => new ReplaySubject(1),
        resetOnComplete: true,
        resetOnError: true,
        resetOnRefCountZero: () => after(this.#clock, LINGER_MS),
      }),
    );
    this.#lists.set(prefix, list$);
    return list$;
  }
}
