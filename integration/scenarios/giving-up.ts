import { setTimeout as pause } from 'node:timers/promises';
import { safely } from '@queuelock/conformance';
import { createLockClient, isQueueLockError, type LockClient, type Ownership } from '@queuelock/core';
import { expect } from 'chai';
import { join } from './join.ts';
import type { Site } from './store.ts';
import { soon, untilHolds, untilNothingIsLeft } from './wait.ts';

/** Number of attempts to acquire that run in parallel. */
const LANES = 5;
/**
 * The test ends an acquisition after a delay of up to `STRETCH` times the measured duration of one.
 * Acquisitions take longer when several run in parallel.
 */
const STRETCH = 2;

/**
 * The states of the lock when the client tries to acquire it. With `passing`, the holder releases it at the
 * same time.
 */
export const LOCKS = ['free', 'busy', 'passing'] as const;
type Lock = (typeof LOCKS)[number];

/**
 * Starts to acquire, and gives up after `giveUpAfterMs`. Resolves with the ownership if it was granted before
 * that.
 */
type Attempt = (client: LockClient, name: string, giveUpAfterMs: number) => Promise<Ownership | undefined>;

export const attempts: Readonly<Record<string, Attempt>> = {
  'a signal that aborts': async (client, name, ms) => {
    const giving = new AbortController();
    setTimeout(() => giving.abort(), ms);
    const acquired = client.acquire(name, { signal: giving.signal });
    return unless(acquired, (error) => error === giving.signal.reason);
  },
  'a timeout': async (client, name, ms) =>
    // Accepts the errors TIMEOUT and UNAVAILABLE. The latter means that the time limit passed before the
    // store had responded.
    unless(
      client.acquire(name, { timeoutMs: Math.max(1, ms) }),
      (error) => isQueueLockError(error, 'TIMEOUT') || isQueueLockError(error, 'UNAVAILABLE'),
    ),
  'an unsubscription': (client, name, ms) =>
    new Promise((resolve, reject) => {
      const claim = client.claim(name).subscribe((state) => {
        // Keeps the subscription until the test ends, because unsubscribing from a claim that holds releases
        // the lock.
        if (state.status === 'held') {
          clearTimeout(timer);
          resolve(state.ownership);
        }
        if (state.status === 'ended' && state.outcome === 'failed') {
          reject(new Error('the claim failed', { cause: state.error }));
        }
      });
      const timer = setTimeout(() => {
        claim.unsubscribe();
        resolve(undefined);
      }, ms);
    }),
};

/** A client that gives up its acquisitions, and a client that joins the queue behind it. */
interface Parties {
  readonly site: Site;
  /** Client whose connection to the server is slow. */
  readonly hesitant: LockClient;
  readonly competitor: LockClient;
}

/**
 * Gives up many acquisitions, each at another moment. The moments are spread over twice the time that an
 * acquisition takes.
 */
export async function giveUpAtAnyMoment(
  { site, hesitant, competitor }: Parties,
  { by, lock, moments }: { readonly by: string; readonly lock: Lock; readonly moments: number },
): Promise<void> {
  const attempt = attempts[by]!;
  const tookMs = await timeToAcquire(hesitant, `${by}-${lock}`);
  const granted: boolean[] = [];
  const lane = async (first: number, end = moments): Promise<void> => {
    for (let i = first; i < end; i += LANES) {
      const afterMs = (STRETCH * tookMs * i) / moments;
      const name = `${by}-${lock}-${i}`;
      granted[i] = await giveUp({ hesitant, competitor, attempt, lock, name, afterMs });
      await untilNothingIsLeft(site, name);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, first) => lane(first)));
  // The first attempt must give up before it is granted. A later attempt must be granted before it gives up,
  // except if another client holds the lock throughout (`busy`). If the machine has become too slow for that,
  // more attempts follow that give up later.
  for (let i = moments; lock !== 'busy' && !granted.includes(true); i *= 2) await lane(i, 2 * i);
  expect(granted[0]).to.equal(false);
  expect(granted.includes(true)).to.equal(lock !== 'busy');
}

/** Closes many clients, each at another moment of the client's first acquisition. */
export async function closeAtAnyMoment(
  { site, competitor: otherClient }: Omit<Parties, 'hesitant'>,
  moments: number,
): Promise<void> {
  // Ignores sessions that exist before the clients start. They belong to clients that other tests have cut
  // off, and live until the TTL is over.
  const others = new Set(await site.sessions());
  const start = performance.now();
  await (await otherClient.acquire('closing')).release();
  const tookMs = performance.now() - start;
  await otherClient.close();
  const ends: unknown[] = [];
  const closeAfter = async (i: number): Promise<void> => {
    const client = createLockClient(site.backend());
    const acquired = client.acquire('closing').then(
      () => 'granted',
      (error: unknown) => (isQueueLockError(error) ? error.code : error),
    );
    await pause((STRETCH * tookMs * i) / moments);
    await soon(client.close(), `the client closes after ${i} moments`);
    ends.push(await acquired);
  };
  for (let i = 0; i < moments; i += 1) await closeAfter(i);
  // At least one client must be granted the lock before it closes. If the machine has become too slow for
  // that, more clients follow that close later.
  for (let i = moments; !ends.includes('granted'); i *= 2) await closeAfter(i);
  expect(new Set(ends)).to.deep.equal(new Set(['CLOSED', 'granted']));
  await untilNothingIsLeft(site, 'closing');
  await untilHolds(
    'no session is left',
    async () => expect((await site.sessions()).filter((id) => !others.has(id))).to.be.empty,
  );
}

interface Story {
  readonly hesitant: LockClient;
  readonly competitor: LockClient;
  readonly attempt: Attempt;
  readonly lock: Lock;
  readonly name: string;
  readonly afterMs: number;
}

/**
 * Makes one client give up its acquisition, and expects that another client which joins directly afterwards
 * is granted the lock. Resolves with whether the first client was granted the lock before it gave up.
 */
async function giveUp({ hesitant, competitor, attempt, lock, name, afterMs }: Story): Promise<boolean> {
  const holds = new Holds(name);
  const holder = lock === 'free' ? undefined : holds.begin(await competitor.acquire(name));
  const attempted = attempt(hesitant, name, afterMs);
  if (holder && lock === 'passing') await holds.end(holder);
  const ownership = await attempted;
  if (ownership) holds.begin(ownership);
  const next = join(competitor, name);
  if (holder && lock === 'busy') await holds.end(holder);
  if (ownership) await holds.end(ownership);
  const { held } = await next;
  await holds.end(holds.begin(await soon(held, `${name} is granted to the next`)));
  return ownership !== undefined;
}

/** Records the holds of a lock in this process, and expects that there is at most one at a time. */
class Holds {
  readonly #name: string;
  readonly #now = new Set<Ownership>();

  constructor(name: string) {
    this.#name = name;
  }

  begin(ownership: Ownership): Ownership {
    expect(ownership.held).to.equal(true);
    this.#now.add(ownership);
    safely(() => expect(this.#now.size, `holders of ${this.#name}`).to.equal(1));
    return ownership;
  }

  async end(ownership: Ownership): Promise<void> {
    this.#now.delete(ownership);
    await ownership.release();
  }
}

async function timeToAcquire(client: LockClient, name: string): Promise<number> {
  // Makes one acquisition first, so that the session is open, and measures a second one. Both use new names,
  // as the claims of the test do.
  await (await client.acquire(`${name}-before`)).release();
  const start = performance.now();
  const ownership = await client.acquire(name);
  const tookMs = performance.now() - start;
  await ownership.release();
  return tookMs;
}

/**
 * Resolves with the result of the promise. Resolves with `undefined` when the promise rejects with an error
 * that `isExpected` accepts.
 */
async function unless<T>(
  promise: Promise<T>,
  isExpected: (error: unknown) => boolean,
): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (isExpected(error)) return undefined;
    throw error;
  }
}
