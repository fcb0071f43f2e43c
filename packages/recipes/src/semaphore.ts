import { isQueueLockError, type ClaimState, type LockClient, type Ownership } from '@queuelock/core';
import { invalidArgument } from './arguments.ts';
import type { PermitOptions, ResizableSemaphore, Semaphore, SemaphoreOptions } from './semaphore-api.ts';
import { SharedLimit, checkedLimit } from './semaphore-limit.ts';
import { EMPTY, Subscription, catchError, defer, finalize, map, tap, throwError, type Observable } from './rx.ts';

/**
 * A counting semaphore: at most `limit` permits of a name are out, over all clients. First come, first served, also for those who want
 * several permits: nobody smaller passes. Each permit handle is an ownership with a signal and a fencing token of its own; a client
 * that dies gives its permits back with its session.
 *
 * With a number for ever (the default) the entries themselves carry it: whoever finds somebody ahead with another number is refused
 * with `LIMIT_MISMATCH`. With `resizable: true` the limit is kept in a register beside the queue, which outlives the clients:
 * the first user writes the declared one, and all follow what is written there. Who waits is admitted at once when it grows; who holds
 * keeps what he has when it shrinks. A resize reaches each waiter with a message of its own: one that has not heard of a smaller limit
 * yet, or is cut off, may still be admitted under the larger one. A fixed and a resizable semaphore of one name are told apart at the
 * fixed one, by `LIMIT_MISMATCH`, when the limit under which an entry ahead joined is another number.
 *
 * Not promised: that a client which counts as dead has noticed. The permits of different holders are of equal rank, so a fenced store
 * refuses those who began earlier; a semaphore bounds load, it does not order writes.
 *
 * After Curator's `InterProcessSemaphoreV2` (permits as handles, a limit that others may change) and kazoo's `Semaphore` (a limit
 * that is checked); theirs take a lock to hand out permits, here the queue does.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a limit that is no whole number from 1 up, or with `resizable` for a backend
 * without registers.
 */
export function semaphore(
  client: LockClient,
  name: string,
  options: SemaphoreOptions & { readonly resizable: true },
): ResizableSemaphore;
export function semaphore(client: LockClient, name: string, options: SemaphoreOptions): Semaphore;
export function semaphore(
  client: LockClient,
  name: string,
  { limit, resizable = false }: SemaphoreOptions,
): Semaphore {
  checkedLimit(limit);
  if (!resizable) return new QueueSemaphore(client, name, limit);
  return new QueueSemaphoreOfAnySize(client, name, new SharedLimit(client, name, limit));
}

/** Permits are claims with a limit. */
class QueueSemaphore implements Semaphore {
  readonly name: string;
  readonly #client: LockClient;
  readonly #limit: number | Observable<number>;

  constructor(client: LockClient, name: string, limit: number | Observable<number>) {
    this.#client = client;
    this.name = name;
    this.#limit = limit;
  }

  async acquire(options: PermitOptions = {}): Promise<Ownership> {
    const watch = this.#watchLimit();
    return this.#client.acquire(this.name, this.#terms(options)).finally(() => watch.unsubscribe());
  }

  async tryAcquire(options: Omit<PermitOptions, 'timeoutMs'> = {}): Promise<Ownership | undefined> {
    const watch = this.#watchLimit();
    return this.#client.tryAcquire(this.name, this.#terms(options)).finally(() => watch.unsubscribe());
  }

  async run<T>(
    work: (permit: Ownership) => T | PromiseLike<T>,
    options: PermitOptions = {},
  ): Promise<Awaited<T>> {
    const watch = this.#watchLimit();
    const begin = (permit: Ownership): T | PromiseLike<T> => {
      watch.unsubscribe();
      return work(permit);
    };
    return this.#client
      .run(this.name, begin, this.#terms(options))
      .finally(() => watch.unsubscribe());
  }

  claim(options: PermitOptions = {}): Observable<ClaimState> {
    const claim$ = this.#client.claim(this.name, this.#terms(options));
    return defer(() => {
      const watch = this.#watchLimit();
      return claim$.pipe(
        tap(({ status }) => {
          if (status !== 'joining' && status !== 'queued') watch.unsubscribe();
        }),
        finalize(() => watch.unsubscribe()),
      );
    });
  }

  #terms<O extends Pick<PermitOptions, 'permits'>>(
    options: O,
  ): O & { readonly limit: number | Observable<number> } {
    const { permits = 1 } = options;
    const limit = this.#limit;
    return { ...options, limit: typeof limit === 'number' ? limit : limit.pipe(map(enoughFor(permits))) };
  }

  /** Keeps the one subscription open from the beginning to the end of a wait; what goes wrong with it is told to the claim. */
  #watchLimit(): Subscription {
    if (typeof this.#limit === 'number') return Subscription.EMPTY;
    return this.#limit.subscribe({ error: () => undefined });
  }
}

class QueueSemaphoreOfAnySize extends QueueSemaphore implements ResizableSemaphore {
  readonly limit$: Observable<number>;
  readonly #shared: SharedLimit;

  constructor(client: LockClient, name: string, shared: SharedLimit) {
    super(client, name, shared.limit$);
    this.#shared = shared;
    this.limit$ = shared.limit$.pipe(
      catchError((error: unknown) => (isQueueLockError(error, 'CLOSED') ? EMPTY : throwError(() => error))),
    );
  }

  resize(limit: number): Promise<void> {
    return this.#shared.resize(limit);
  }
}

/** A waiter that can never be served would hold up everybody behind it. */
function enoughFor(permits: number): (limit: number) => number {
  return (limit) => {
    if (permits <= limit) return limit;
    throw invalidArgument('permits', permits, `is at most the limit of the semaphore, which is ${limit} now`);
  };
}
