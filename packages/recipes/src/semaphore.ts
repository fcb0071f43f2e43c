import type { ClaimOptions, ClaimState, LockClient, SharedOwnership } from '@queuelock/core';
import {
  ACQUIRE_OPTIONS,
  CLAIM_OPTIONS,
  RUN_OPTIONS,
  checkedOptions,
  inCallerContext,
  knownWithout,
  type KnownOptions,
} from '@queuelock/core/backend';
import { untilClosed } from './live-text.ts';
import type {
  PermitClaimOptions,
  PermitOptions,
  PermitRunOptions,
  ResizableSemaphore,
  Semaphore,
  SemaphoreOptions,
} from './semaphore-api.ts';
import { SharedLimit, checkedLimit, fixedLimit, type Limit } from './semaphore-limit.ts';
import { defer, finalize, tap, type Observable } from './rx.ts';

/**
 * Returns a counting semaphore: over all clients, at most `limit` permits of a name are taken at a time. First come, first served, also for
 * claims of several permits: smaller claims do not pass. Each permit handle is an ownership with a signal and a fencing token of its own.
 * The permits of a client that dies are released with its session.
 *
 * With a fixed limit (the default) the entries themselves store the limit. A claim that finds an entry ahead with another limit rejects
 * with `LIMIT_MISMATCH`.
 *
 * With `resizable: true` the limit is kept in a register beside the queue, which outlives the clients. The first user writes the declared
 * limit, and all clients follow the written one. When it grows, waiters are admitted at once. When it shrinks, holders keep their permits.
 * Waiters learn of a resize at different times. A waiter that is cut off or has not yet been notified of a smaller limit may still be
 * admitted under the larger one.
 *
 * If a fixed and a resizable semaphore use one name, only the fixed one can notice: it rejects with `LIMIT_MISMATCH` when an entry ahead
 * joined under another limit.
 *
 * Not promised: that a client whose session has expired has noticed it. Fencing does not help between holders: they hold at the same time,
 * so a store that rejects lower tokens would reject the holders that began earlier. A semaphore bounds load; it does not order writes.
 *
 * It follows Curator's `InterProcessSemaphoreV2` (permits as handles, a limit that other clients may change) and kazoo's `Semaphore` (a
 * limit that is checked). Those take a lock to hand out permits; here the queue does it.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a limit that is not a whole number from 1 up, or with `resizable` for a backend without
 *   registers
 * @example
 * const uploads = semaphore(client, 'uploads', { limit: 5 });
 * await uploads.run(async (permit, stop) => {
 *   await upload({ signal: stop });
 * });
 */
export function semaphore(
  client: LockClient,
  name: string,
  options: SemaphoreOptions & { readonly resizable: true },
): ResizableSemaphore;
export function semaphore(client: LockClient, name: string, options: SemaphoreOptions): Semaphore;
export function semaphore(client: LockClient, name: string, options: SemaphoreOptions): Semaphore {
  const { limit, resizable = false } = checkedOptions('options of semaphore', options, OPTIONS);
  checkedLimit(limit);
  if (!resizable) return new QueueSemaphore(client, name, fixedLimit(limit));
  return new QueueSemaphoreOfAnySize(client, name, new SharedLimit(client, name, limit));
}

const OPTIONS: KnownOptions<SemaphoreOptions> = { limit: 'any', resizable: 'boolean' };

const PERMIT_OPTIONS = knownWithout(ACQUIRE_OPTIONS, 'mode', 'limit');
const PERMIT_RUN_OPTIONS = knownWithout(RUN_OPTIONS, 'mode', 'limit');
const TRY_PERMIT_OPTIONS = knownWithout(ACQUIRE_OPTIONS, 'mode', 'limit', 'timeoutMs');
const PERMIT_CLAIM_OPTIONS = knownWithout(CLAIM_OPTIONS, 'mode', 'limit');

/** A semaphore. Its permits are claims of a queue with a limit. */
class QueueSemaphore implements Semaphore {
  readonly name: string;
  readonly #client: LockClient;
  readonly #limit: Limit;

  constructor(client: LockClient, name: string, limit: Limit) {
    this.#client = client;
    this.name = name;
    this.#limit = limit;
  }

  async acquire(options?: PermitOptions): Promise<SharedOwnership> {
    const terms = this.#complete(checkedOptions('options of acquire', options, PERMIT_OPTIONS));
    const watch = this.#limit.watch();
    return this.#client.acquire(this.name, terms).finally(() => watch.unsubscribe());
  }

  async tryAcquire(options?: Omit<PermitOptions, 'timeoutMs'>): Promise<SharedOwnership | undefined> {
    const terms = this.#complete(checkedOptions('options of tryAcquire', options, TRY_PERMIT_OPTIONS));
    const watch = this.#limit.watch();
    return this.#client.tryAcquire(this.name, terms).finally(() => watch.unsubscribe());
  }

  async run<T>(
    work: (permit: SharedOwnership, stop: AbortSignal) => T | PromiseLike<T>,
    options?: PermitRunOptions,
  ): Promise<Awaited<T>> {
    const terms = this.#complete(checkedOptions('options of run', options, PERMIT_RUN_OPTIONS));
    const watch = this.#limit.watch();
    const begin = (permit: SharedOwnership, stop: AbortSignal): T | PromiseLike<T> => {
      watch.unsubscribe();
      return work(permit, stop);
    };
    return this.#client.run(this.name, begin, terms).finally(() => watch.unsubscribe());
  }

  claim(options?: PermitClaimOptions): Observable<ClaimState> {
    const checked = checkedOptions('options of claim', options, PERMIT_CLAIM_OPTIONS);
    const claim$ = this.#client.claim(this.name, this.#complete(checked));
    return defer(() => {
      const watch = this.#limit.watch();
      return claim$.pipe(
        tap(({ status }) => {
          if (status !== 'joining' && status !== 'queued') watch.unsubscribe();
        }),
        finalize(() => watch.unsubscribe()),
      );
    });
  }

  #complete<Options extends PermitOptions>(options: Options): Options & Pick<ClaimOptions, 'limit'> {
    return { ...options, ...this.#limit.terms(options.permits ?? 1) };
  }
}

class QueueSemaphoreOfAnySize extends QueueSemaphore implements ResizableSemaphore {
  readonly limit$: Observable<number>;
  readonly #shared: SharedLimit;

  constructor(client: LockClient, name: string, shared: SharedLimit) {
    super(client, name, shared);
    this.#shared = shared;
    this.limit$ = inCallerContext(untilClosed(shared.limit$));
  }

  resize(limit: number): Promise<void> {
    return this.#shared.resize(limit);
  }
}
