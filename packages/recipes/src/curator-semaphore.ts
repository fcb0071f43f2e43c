import type { AcquireOptions, LockClient, Ownership, SharedOwnership, WorkOptions } from '@queuelock/core';
import {
  WORK_OPTIONS,
  checkedOptions,
  invalidArgument,
  waitOf,
  type KnownOptions,
} from '@queuelock/core/backend';
import { wholeNumber } from './arguments.ts';
import { checkWait, countingDown } from './wait-limit.ts';

/** Largest number of leases, which is the largest limit that a claim accepts. */
const MAX_LEASES = 1_000_000;

/** Settings of Curator's semaphore. */
export interface CuratorSemaphoreOptions {
  /**
   * Number of leases (Curator's word for permits). The store does not keep it, so all clients must use the
   * same number, as with Curator.
   */
  readonly maxLeases: number;
}

const OPTIONS: KnownOptions<CuratorSemaphoreOptions> = { maxLeases: 'any' };

/** Settings of one lease, as in `AcquireOptions`. */
export type LeaseOptions = Pick<
  AcquireOptions,
  'signal' | 'timeoutMs' | 'minRemainingMs' | 'owner' | 'metadata' | 'value'
>;

const TRY_LEASE_OPTIONS: KnownOptions<Omit<LeaseOptions, 'timeoutMs'>> = {
  signal: 'any',
  minRemainingMs: 'number',
  owner: 'string',
  metadata: 'object',
  value: 'string',
};

const LEASE_OPTIONS: KnownOptions<LeaseOptions> = { ...TRY_LEASE_OPTIONS, timeoutMs: 'number' };
const LEASE_RUN_OPTIONS = { ...LEASE_OPTIONS, ...WORK_OPTIONS };

/**
 * Leases of the semaphore at one path of ZooKeeper; made by `curatorSemaphore`. Each lease is an ownership with a signal and a fencing token of its
 * own.
 */
export interface CuratorSemaphore {
  readonly path: string;
  /**
   * Waits for a lease. Give it back with `release()` or `await using`.
   * @throws {QueueLockError} like `LockClient.acquire`; `OWNERSHIP_LOST` when this call lost its entry in the `locks` queue while it waited for the
   *   lease; `INVALID_ARGUMENT` for a `timeoutMs` of 0
   */
  acquire(options?: LeaseOptions): Promise<SharedOwnership>;
  /**
   * Makes one attempt to take a lease without waiting.
   * @returns `undefined` when no lease is free, or when another client has the first entry in the `locks` queue
   */
  tryAcquire(options?: Omit<LeaseOptions, 'timeoutMs'>): Promise<SharedOwnership | undefined>;
  /**
   * Runs `work` while holding a lease.
   * @throws {QueueLockError} like `LockClient.run`; `REENTRANT` for a call chain that holds all leases. For a call chain that holds some of the
   *   leases, see the option `permits` of `ClaimOptions`
   */
  run<T>(
    work: (lease: SharedOwnership, stop: AbortSignal) => T | PromiseLike<T>,
    options?: LeaseOptions & WorkOptions,
  ): Promise<Awaited<T>>;
}

/**
 * Returns a semaphore that is compatible with Curator's InterProcessSemaphoreV2, to share it with Java programs. With one lease it is
 * compatible with InterProcessSemaphoreMutex. The first entry in `path/locks` creates an entry in `path/leases`, waits until at most
 * `maxLeases` entries are there, and then leaves `path/locks` to the next. Among Node programs alone use `semaphore`: it needs one queue
 * and half the requests.
 *
 * The ZooKeeper backend must name the entries of both queues as Curator does:
 * `naming: (queue) => (queue.endsWith('/leases') ? 'curator-lease' : 'curator')`.
 *
 * Not promised: that all clients use the same `maxLeases`. Curator's leases do not store it, so it cannot be checked.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a `maxLeases` that is not a whole number from 1 up, or a path that ends with a slash
 * @example
 * const leases = curatorSemaphore(client, '/uploads', { maxLeases: 5 });
 * await leases.run(async (lease, stop) => {
 *   await upload({ token: lease.token, signal: stop });
 * });
 */
export function curatorSemaphore(
  client: LockClient,
  path: string,
  options: CuratorSemaphoreOptions,
): CuratorSemaphore {
  const { maxLeases } = checkedOptions('options of curatorSemaphore', options, OPTIONS);
  if (typeof path !== 'string' || path === '' || path.endsWith('/')) {
    throw invalidArgument('path', path, 'is a name that is not empty and does not end with a slash');
  }
  return new TwoQueues(client, path, wholeNumber('maxLeases', maxLeases, { min: 1, max: MAX_LEASES }));
}

class TwoQueues implements CuratorSemaphore {
  readonly path: string;
  readonly #client: LockClient;
  readonly #maxLeases: number;

  constructor(client: LockClient, path: string, maxLeases: number) {
    this.path = path;
    this.#client = client;
    this.#maxLeases = maxLeases;
  }

  async acquire(options?: LeaseOptions): Promise<SharedOwnership> {
    const checked = checkedOptions('options of acquire', options, LEASE_OPTIONS);
    return this.#inTurn(checked, (terms) => this.#client.acquire(this.#leases, terms));
  }

  async run<T>(
    work: (lease: SharedOwnership, stop: AbortSignal) => T | PromiseLike<T>,
    options?: LeaseOptions & WorkOptions,
  ): Promise<Awaited<T>> {
    const { wait, limits } = waitOf(checkedOptions('options of run', options, LEASE_RUN_OPTIONS));
    return this.#inTurn(wait, (terms, begun) => {
      const begin = (lease: SharedOwnership, stop: AbortSignal): T | PromiseLike<T> => {
        begun();
        return work(lease, stop);
      };
      return this.#client.run(this.#leases, begin, { ...terms, ...limits });
    });
  }

  async tryAcquire(options?: Omit<LeaseOptions, 'timeoutMs'>): Promise<SharedOwnership | undefined> {
    const checked = checkedOptions('options of tryAcquire', options, TRY_LEASE_OPTIONS);
    const turn = await this.#client.tryAcquire(this.#locks, inLine(checked));
    if (!turn) return undefined;
    try {
      return await this.#client.tryAcquire(this.#leases, { ...checked, limit: this.#maxLeases });
    } finally {
      await turn.release();
    }
  }

  get #locks(): string {
    return `${this.path}/locks`;
  }

  get #leases(): string {
    return `${this.path}/leases`;
  }

  /**
   * Acquires Curator's queue `locks`, and calls `take`, which waits for a lease, while it holds that queue.
   * Releases the queue `locks` once `take` has a lease. The lease stays valid even if the hold of that queue
   * is lost afterwards.
   */
  async #inTurn<T>(
    options: LeaseOptions,
    take: (terms: AcquireOptions, begun: () => void) => Promise<T>,
  ): Promise<T> {
    const { signal, timeoutMs } = options;
    const limits = { ...(signal ? { signal } : {}), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    checkWait(limits, 1);
    const left = countingDown(limits);
    let taken: Promise<T> | undefined;
    const untilBegun = (turn: Ownership): Promise<void> =>
      new Promise((begun, refused) => {
        const until = signal ? AbortSignal.any([signal, turn.signal]) : turn.signal;
        taken = take({ ...options, ...left(), limit: this.#maxLeases, signal: until }, begun);
        taken.then(() => begun(), refused);
      });
    const turn = this.#client.run(this.#locks, untilBegun, { ...inLine(options), ...limits });
    await turn.catch((error: unknown) => {
      if (!taken) throw error;
    });
    return taken as Promise<T>;
  }
}

/** Options that the entries in both queues, `locks` and `leases`, have in common. */
function inLine({ owner, metadata, value, signal }: LeaseOptions): AcquireOptions {
  return {
    ...(owner === undefined ? {} : { owner }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(value === undefined ? {} : { value }),
    ...(signal === undefined ? {} : { signal }),
  };
}
