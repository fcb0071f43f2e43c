import { anySignal, type LockClient, type SharedOwnership } from '@queuelock/core';
import { checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import { wholeNumber } from './arguments.ts';
import type { FairShare, FairShareOptions, Share, ShareOptions, ShareRunOptions } from './fair-share-api.ts';
import { HeldShare } from './fair-share-hold.ts';
import { countingDown } from './wait-limit.ts';
import type { Semaphore } from './semaphore-api.ts';
import { semaphore } from './semaphore.ts';

const OPTIONS: KnownOptions<FairShareOptions> = { limit: 'any', limitPerKey: 'any' };
const SHARE_OPTIONS: KnownOptions<ShareOptions> = {
  signal: 'any',
  timeoutMs: 'number',
  minRemainingMs: 'number',
  owner: 'string',
  metadata: 'object',
};
const TRY_OPTIONS: KnownOptions<Omit<ShareOptions, 'timeoutMs'>> = {
  signal: 'any',
  minRemainingMs: 'number',
  owner: 'string',
  metadata: 'object',
};
const RUN_OPTIONS: KnownOptions<ShareRunOptions> = { ...SHARE_OPTIONS, stop: 'any', workTimeoutMs: 'number' };
const LONGEST_KEY = 200;
/** Matches the names of the queues of keys, and no other names; see `queueOfKey`. */
const NAME_OF_KEY = /.\/key\/[^/]+$/su;

/**
 * Returns permits that keys take in turns: at most `limit` in all, and at most `limitPerKey` for each key. A key is for instance a tenant, so
 * one tenant with a thousand jobs does not keep another one waiting for all of them.
 *
 * A caller first waits for a permit of its key, in the queue `NAME/key/KEY`, then for a shared one, in the queue `NAME`. In the name of the queue, `%25`
 * and `%2F` replace each percent sign and slash of the key. Both queues are semaphores and first come, first served. A key has at most `limitPerKey` entries in the shared queue. So a caller that has joined it is granted after
 * at most `limitPerKey` callers of each other key and `limitPerKey - 1` of its own key. No caller that joins later passes.
 *
 * Every caller takes the permit of its key before the shared one, so callers of one name cannot deadlock.
 *
 * Not promised:
 * - A bound on how many callers of other keys pass while the own key holds as many permits as it may.
 * - That a call chain which holds a share and waits for another one ever gets that. Take one share at a time.
 * - That a holder whose session has expired has noticed it; see `semaphore`.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for bad numbers, a name that ends in `/key/` and a text without a slash, as the queue of a key does, or
 * a name that the backend cannot hold
 * @example
 * const exports = fairShare(client, 'exports', { limit: 20, limitPerKey: 3 });
 * await exports.run(tenant, async (share, stop) => {
 *   await exportAll(tenant, { signal: stop });
 * });
 */
export function fairShare(client: LockClient, name: string, options: FairShareOptions): FairShare {
  const checked = checkedOptions('options of fairShare', options, OPTIONS);
  const limit = wholeNumber('limit', checked.limit, { min: 1 });
  const limitPerKey = wholeNumber('limitPerKey', checked.limitPerKey, { min: 1, max: limit });
  if (NAME_OF_KEY.test(name))
    throw invalidArgument(
      'name',
      name,
      'does not end in "/key/…", as the queue of a key of another fairShare does',
    );
  return new TwoStepShare(client, name, { limit, limitPerKey });
}

class TwoStepShare implements FairShare {
  readonly name: string;
  readonly #client: LockClient;
  readonly #limitPerKey: number;
  readonly #shared: Semaphore;

  constructor(client: LockClient, name: string, { limit, limitPerKey }: FairShareOptions) {
    this.name = name;
    this.#client = client;
    this.#limitPerKey = limitPerKey;
    this.#shared = semaphore(client, name, { limit });
  }

  async acquire(key: string, options?: ShareOptions): Promise<Share> {
    const checked = checkedOptions('options of acquire', options, SHARE_OPTIONS);
    const left = timeLeft(checked);
    const ofKey = await this.#ofKey(key).acquire({ ...checked, ...left() });
    return withShared(key, ofKey, async (signal) =>
      this.#shared.acquire({ ...checked, ...left(), signal: eitherOf(checked.signal, signal) }),
    );
  }

  async tryAcquire(key: string, options?: Omit<ShareOptions, 'timeoutMs'>): Promise<Share | undefined> {
    const checked = checkedOptions('options of tryAcquire', options, TRY_OPTIONS);
    const ofKey = await this.#ofKey(key).tryAcquire(checked);
    if (!ofKey) return undefined;
    return withShared(key, ofKey, async (signal) =>
      this.#shared.tryAcquire({ ...checked, signal: eitherOf(checked.signal, signal) }),
    );
  }

  async run<T>(
    key: string,
    work: (share: Share, stop: AbortSignal) => T | PromiseLike<T>,
    options?: ShareRunOptions,
  ): Promise<Awaited<T>> {
    const checked = checkedOptions('options of run', options, RUN_OPTIONS);
    if (typeof work !== 'function') throw invalidArgument('work', work, 'is a function');
    const { workTimeoutMs, ...waits } = checked;
    const left = timeLeft(checked);
    return this.#ofKey(key).run(
      (ofKey, stop) =>
        this.#shared.run((shared, end) => work(new HeldShare(key, { ofKey, shared }), end), {
          ...waits,
          ...left(),
          ...(workTimeoutMs === undefined ? {} : { workTimeoutMs }),
          stop,
        }),
      { ...waits, ...left() },
    );
  }

  #ofKey(key: string): Semaphore {
    if (typeof key !== 'string' || key.length === 0 || key.length > LONGEST_KEY)
      throw invalidArgument('key', key, `is a text of 1 to ${LONGEST_KEY} characters`);
    return semaphore(this.#client, queueOfKey(this.name, key), { limit: this.#limitPerKey });
  }
}

/**
 * Returns the name of the queue of a key. The key is encoded without slashes, so no other name and key have the same queue, and no queue of all keys
 * has this name.
 */
function queueOfKey(name: string, key: string): string {
  return `${name}/key/${key.replaceAll('%', '%25').replaceAll('/', '%2F')}`;
}

/**
 * Takes a permit of the shared queue while the caller holds a permit of its key. If it gets no shared permit,
 * it releases the permit of the key before it settles.
 */
async function withShared<Permit extends SharedOwnership | undefined>(
  key: string,
  ofKey: SharedOwnership,
  take: (lost: AbortSignal) => Promise<Permit>,
): Promise<Share | (undefined & Permit)> {
  let shared: Permit | undefined;
  try {
    shared = await take(ofKey.signal);
    // Throws if the permit of the key was lost while the request for the shared permit was in flight.
    if (shared) ofKey.throwIfLost();
  } catch (error) {
    await shared?.release();
    await ofKey.release();
    throw error;
  }
  if (shared) return new HeldShare(key, { ofKey, shared });
  await ofKey.release();
  return undefined as undefined & Permit;
}

function eitherOf(signal: AbortSignal | undefined, lost: AbortSignal): AbortSignal {
  return signal ? anySignal([signal, lost]) : lost;
}

/**
 * Returns a function that computes the timeout that is left for a wait: first for the permit of the key, then
 * for the shared permit. A timeout of 0 means one attempt at each permit.
 */
function timeLeft({ timeoutMs }: Pick<ShareOptions, 'timeoutMs'>): () => Pick<ShareOptions, 'timeoutMs'> {
  if (timeoutMs === undefined || timeoutMs === 0) return () => ({});
  const left = countingDown({ timeoutMs });
  return () => ({ timeoutMs: left().timeoutMs ?? timeoutMs });
}
