import { setTimeout as pause } from 'node:timers/promises';
import { createLockClient, isQueueLockError, type LockClient, type Ownership } from '@queuelock/core';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '../faults.ts';
import { join } from './join.ts';
import { stores, type OwnSite } from './stores.ts';
import { soon, untilHolds, untilNothingIsLeft } from './wait.ts';

const DELAY_MS = 15;
/** Moments to give up at, spread over the whole of an acquisition and a little more. */
const MOMENTS = 30;
/** So many at once, the others one after the other. */
const LANES = 5;
/** So much longer than an acquisition that has the process to itself takes. */
const STRETCH = 2;

/** `passing`: its holder releases it while the other acquires it. */
const LOCKS = ['free', 'busy', 'passing'] as const;
type Lock = (typeof LOCKS)[number];

/** Starts to acquire, and gives up after so many milliseconds. Answers with the ownership if it came before that. */
type Attempt = (client: LockClient, name: string, giveUpAfterMs: number) => Promise<Ownership | undefined>;

const attempts: Readonly<Record<string, Attempt>> = {
  'a signal that aborts': async (client, name, ms) => {
    const giving = new AbortController();
    setTimeout(() => giving.abort(), ms);
    const acquired = client.acquire(name, { signal: giving.signal });
    return unless(acquired, (error) => error === giving.signal.reason);
  },
  'a timeout': async (client, name, ms) =>
    unless(client.acquire(name, { timeoutMs: Math.max(1, ms) }), (error) =>
      isQueueLockError(error, 'TIMEOUT'),
    ),
  'an unsubscription': (client, name, ms) =>
    new Promise((resolve, reject) => {
      const claim = client.claim(name).subscribe((state) => {
        // Who unsubscribes a hold releases it: it is kept to its end here.
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

for (const store of stores) {
  describe(`giving up, with ${store.name}`, function () {
    this.timeout(60_000);
    let site: OwnSite;
    let proxy: TcpProxy;
    /** Behind the proxy. */
    let hesitant: LockClient;
    let rival: LockClient;

    before(async () => {
      site = await store.start('giving up');
    });

    beforeEach(async () => {
      proxy = await startProxy(site.endpoint);
      hesitant = createLockClient(site.backend(proxy.endpoint));
      rival = createLockClient(site.backend());
    });

    afterEach(async () => {
      // In this order: ZooKeeper's client stands still until a connection that is there has answered to its end, and the
      // proxy with it.
      await proxy.stop();
      await Promise.all([hesitant.close(), rival.close()]);
    });

    after(async () => {
      await site.server.stop();
    });

    for (const [by, attempt] of Object.entries(attempts)) {
      for (const lock of LOCKS) {
        it(`34: by ${by}, at any moment on a ${lock} lock, it leaves nothing and holds nobody up`, async () => {
          proxy.toServer.delay(DELAY_MS);
          proxy.toClient.delay(DELAY_MS);
          const tookMs = await timeToAcquire(hesitant, `${by}-${lock}`);
          const granted: boolean[] = [];
          const lane = async (first: number): Promise<void> => {
            for (let i = first; i < MOMENTS; i += LANES) {
              const afterMs = (STRETCH * tookMs * i) / MOMENTS;
              const name = `${by}-${lock}-${i}`;
              granted[i] = await giveUp({ hesitant, rival, attempt, lock, name, afterMs });
              await untilNothingIsLeft(site, name);
            }
          };
          await Promise.all(Array.from({ length: LANES }, (_, first) => lane(first)));
          // The first gave up before it could have been granted; the last ones, of a lock that was to be had, came too late.
          expect(granted[0]).to.equal(false);
          expect(granted.includes(true)).to.equal(lock !== 'busy');
        });
      }
    }

    it('34: by closing a client, at any moment of its first acquisition, it leaves no session either', async () => {
      // Clients that were cut off before leave theirs to the TTL.
      const others = new Set(await site.sessions());
      const start = performance.now();
      await (await rival.acquire('closing')).release();
      const tookMs = performance.now() - start;
      await rival.close();
      const ends = [];
      for (let i = 0; i < MOMENTS; i += 1) {
        const client = createLockClient(site.backend());
        const acquired = client.acquire('closing').then(
          () => 'granted',
          (error: unknown) => (isQueueLockError(error) ? error.code : error),
        );
        await pause((STRETCH * tookMs * i) / MOMENTS);
        await soon(client.close(), `the client closes after ${i} moments`);
        ends.push(await acquired);
      }
      expect(new Set(ends)).to.deep.equal(new Set(['CLOSED', 'granted']));
      await untilNothingIsLeft(site, 'closing');
      await untilHolds(
        'no session is left',
        async () => expect((await site.sessions()).filter((id) => !others.has(id))).to.be.empty,
      );
    });

    describe('with a reply that is lost', () => {
      it('an enqueue is in the queue once, and the acquisition goes on', async () => {
        await warmUp(hesitant);
        const reply = proxy.loseNextReply((chunk) => chunk.includes('lost-enqueue'));
        const acquired = hesitant.acquire('enqueue', { owner: 'lost-enqueue' });
        (await reply.lost).cut();
        const ownership = await soon(acquired, 'the lock is granted');
        expect(await site.entries('enqueue')).to.deep.equal([ownership.key]);
        expect(ownership.held).to.equal(true);
        await ownership.release();
        await untilNothingIsLeft(site, 'enqueue');
      });

      it('an enqueue behind others keeps its place', async () => {
        await warmUp(hesitant);
        const holder = await rival.acquire('place');
        const reply = proxy.loseNextReply((chunk) => chunk.includes('lost-place'));
        const place = join(hesitant, 'place', { owner: 'lost-place' });
        const connection = await reply.lost;
        const behind = await join(rival, 'place');
        connection.cut();
        const { order, held } = await soon(place, 'it stands in line');
        expect(order < behind.order).to.equal(true);
        expect(await site.entries('place')).to.have.lengthOf(3);
        await holder.release();
        await (await soon(held, 'the lock is granted to the one behind')).release();
        await (await soon(behind.held, 'the lock is granted to the last')).release();
        await untilNothingIsLeft(site, 'place');
      });

      it('an enqueue that is given up leaves nothing, before and after the connection is cut', async () => {
        await warmUp(hesitant);
        for (const when of ['before', 'after']) {
          const name = `given-up-${when}`;
          const giving = new AbortController();
          const reply = proxy.loseNextReply((chunk) => chunk.includes(name));
          const acquired = hesitant.acquire(name, { signal: giving.signal });
          const connection = await reply.lost;
          if (when === 'before') giving.abort();
          connection.cut();
          giving.abort();
          expect(await acquired.catch((error: unknown) => error)).to.equal(giving.signal.reason);
          await (await soon((await join(rival, name)).held, `${name} is granted to the next`)).release();
          await untilNothingIsLeft(site, name);
        }
      });

      it('a release has happened once, says so, and the next holds the lock meanwhile', async () => {
        const ownership = await hesitant.acquire('release');
        const next = await join(rival, 'release');
        const reply = proxy.loseNextReply((chunk) => chunk.includes('release'));
        const released = ownership.release();
        const connection = await reply.lost;
        const nextOwnership = await soon(next.held, 'the lock is granted to the next');
        connection.cut();
        await soon(released, 'the release is confirmed');
        await ownership.release();
        expect(await site.entries('release')).to.deep.equal([nextOwnership.key]);
        expect(nextOwnership.held).to.equal(true);
        await nextOwnership.release();
        await untilNothingIsLeft(site, 'release');
      });
    });
  });
}

interface Story {
  readonly hesitant: LockClient;
  readonly rival: LockClient;
  readonly attempt: Attempt;
  readonly lock: Lock;
  readonly name: string;
  readonly afterMs: number;
}

/** One gives up, somebody else comes right after, and is granted. Answers whether the one was granted before it gave up. */
async function giveUp({ hesitant, rival, attempt, lock, name, afterMs }: Story): Promise<boolean> {
  const holds = new Holds(name);
  const holder = lock === 'free' ? undefined : holds.begin(await rival.acquire(name));
  const attempted = attempt(hesitant, name, afterMs);
  if (holder && lock === 'passing') await holds.end(holder);
  const ownership = await attempted;
  if (ownership) holds.begin(ownership);
  const next = join(rival, name);
  if (holder && lock === 'busy') await holds.end(holder);
  if (ownership) await holds.end(ownership);
  const { held } = await next;
  await holds.end(holds.begin(await soon(held, `${name} is granted to the next`)));
  return ownership !== undefined;
}

/** Those who believe that they hold one lock: one at a time. */
class Holds {
  readonly #name: string;
  readonly #now = new Set<Ownership>();

  constructor(name: string) {
    this.#name = name;
  }

  begin(ownership: Ownership): Ownership {
    expect(ownership.held).to.equal(true);
    this.#now.add(ownership);
    expect(this.#now.size, `holders of ${this.#name}`).to.equal(1);
    return ownership;
  }

  async end(ownership: Ownership): Promise<void> {
    this.#now.delete(ownership);
    await ownership.release();
  }
}

/** Opens the session and its connections. */
async function warmUp(client: LockClient): Promise<void> {
  await (await client.acquire('warm-up')).release();
}

async function timeToAcquire(client: LockClient, name: string): Promise<number> {
  // Without the session that the first one opens; on a name that is as new as the others.
  await (await client.acquire(`${name}-before`)).release();
  const start = performance.now();
  const ownership = await client.acquire(name);
  const tookMs = performance.now() - start;
  await ownership.release();
  return tookMs;
}

/** Nothing, when it rejects with what was expected. */
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
