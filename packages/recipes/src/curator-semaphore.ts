import type { AcquireOptions, LockClient, Ownership, SharedOwnership, WorkOptions } from '@queuelock/core';
import {
  WORK_OPTIONS,
  checkedOptions,
  invalidArgument,
  waitOf,
  type KnownOptions,
} from '@queuelock/core/backend';
import { wholeNumber } from './arguments.ts';
import { checkWait, countingDown } from './patience.ts';

/** That of a claim. */
const MAX_LEASES = 1_000_000;

/** Settings of Curator's semaphore. */
export interface CuratorSemaphoreOptions {
  /** So many leases there are. Stored nowhere: everybody says the same number, as with Curator. */
  readonly maxLeases: number;
}

const OPTIONS: KnownOptions<CuratorSemaphoreOptions> = { maxLeases: 'any' };

/** Settings of one lease, as of a lock. */
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

/** Leases of one path; made by `curatorSemaphore`. Each of them is an ownership with a signal and a fencing token of its own. */
export interface CuratorSemaphore {
  readonly path: string;
  /**
   * Waits for a lease; give it back with `release()` or `await using`. Rejects as `LockClient.acquire`, with `OWNERSHIP_LOST` when its
   * place at the front was taken from it meanwhile, and with `INVALID_ARGUMENT` for a `timeoutMs` of 0.
   */
  acquire(options?: LeaseOptions): Promise<SharedOwnership>;
  /** A lease if there is one, `undefined` otherwise: also when somebody else is just being served. */
  tryAcquire(options?: Omit<LeaseOptions, 'timeoutMs'>): Promise<SharedOwnership | undefined>;
  /** Runs `work` with a lease. A call chain that has all of them is refused with `REENTRANT`; see `permits` of `ClaimOptions` for one that has some. */
  run<T>(
    work: (lease: SharedOwnership, stop: AbortSignal) => T | PromiseLike<T>,
    options?: LeaseOptions & WorkOptions,
  ): Promise<Awaited<T>>;
}

/**
 * Curator's InterProcessSemaphoreV2 (and InterProcessSemaphoreMutex: one lease), to share it with Java: who stands first in `path/locks`
 * enters `path/leases`, waits there until at most `maxLeases` are in, and makes way for the next. Among Node programs alone `semaphore`
 * does the same in one queue, with half the requests.
 *
 * The ZooKeeper backend has to name the two as Curator does:
 * `naming: (queue) => (queue.endsWith('/leases') ? 'curator-lease' : 'curator')`.
 * Not promised: that all say the same `maxLeases`; of Curator's leases nobody can know.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a `maxLeases` that is no whole number from 1 up, or a path that ends with a slash.
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

  /** Takes while it is this one's turn, and until it has begun; what was taken by then stays. */
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

/** What the entry that stands for its turn has of the lease's. */
function inLine({ owner, metadata, value, signal }: LeaseOptions): AcquireOptions {
  return {
    ...(owner === undefined ? {} : { owner }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(value === undefined ? {} : { value }),
    ...(signal === undefined ? {} : { signal }),
  };
}
