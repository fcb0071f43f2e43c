import { setTimeout as pause } from 'node:timers/promises';
import { createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import { expect } from 'chai';
import type { Subscription } from 'rxjs';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { join } from './join.ts';
import { stores } from './stores.ts';
import type { OwnSite } from './store.ts';
import { soon, untilHolds, untilNothingIsLeft } from './wait.ts';

const DELAY_MS = 15;
/**
 * Number of releases that the test disturbs (by an abort or an unsubscription, for instance), each after
 * another delay. The delays are spread over one and a half times the duration of a release.
 */
const MOMENTS = 20;
const STRETCH = 1.5;

/**
 * A held lock, with the abort controller and the RxJS subscription by which a test can disturb its release.
 */
interface Hold {
  readonly giving: AbortController;
  readonly claim: Subscription;
  readonly ownership: Ownership;
}

const disturbances: Readonly<Record<string, (hold: Hold) => unknown>> = {
  'a signal that aborts': ({ giving }) => giving.abort(),
  'an unsubscription': ({ claim }) => claim.unsubscribe(),
  'another release': ({ ownership }) => ownership.release(),
};

for (const store of stores) {
  describe(`a disturbed release, with ${store.name}`, function () {
    this.timeout(60_000);
    let site: OwnSite;
    let competitor: LockClient;

    before(async () => {
      site = await store.start('disturbed releases');
    });

    beforeEach(() => {
      competitor = createLockClient(site.backend());
    });

    afterEach(async () => {
      await competitor.close();
    });

    after(async () => {
      await site.server.stop();
    });

    /**
     * Adds a waiter, releases the lock, and disturbs the release `afterMs` milliseconds later. Expects that
     * the release is confirmed and the waiter is granted the lock.
     */
    async function releaseDisturbed(hold: Hold, afterMs: number, disturb: () => unknown): Promise<void> {
      const { ownership } = hold;
      const next = await join(competitor, ownership.name);
      const released = ownership.release();
      await pause(afterMs);
      await soon(Promise.resolve(disturb()), 'the disturbance is over');
      await soon(released, 'the release is confirmed');
      expect([ownership.held, ownership.signal.aborted]).to.deep.equal([false, false]);
      await (await soon(next.held, `${ownership.name} is granted to the next`)).release();
      await untilNothingIsLeft(site, ownership.name);
    }

    describe('on a slow connection', () => {
      let proxy: TcpProxy;
      let hesitant: LockClient;

      beforeEach(async () => {
        proxy = await startProxy(site.endpoint);
        proxy.toServer.delay(DELAY_MS);
        proxy.toClient.delay(DELAY_MS);
        hesitant = createLockClient(site.backend(proxy.endpoint));
      });

      afterEach(async () => {
        // Stops the proxy before the client, because closing ZooKeeper's client blocks until a connection has
        // received all its responses.
        await proxy.stop();
        await hesitant.close();
      });

      for (const [what, disturb] of Object.entries(disturbances)) {
        it(`takes effect once if disturbed by ${what} at any moment`, async () => {
          const tookMs = await timeToRelease(hesitant);
          const releases = Array.from({ length: MOMENTS }, async (_, moment) => {
            const hold = await holdNow(hesitant, `${what.replaceAll(' ', '-')}-${moment}`);
            await releaseDisturbed(hold, (STRETCH * tookMs * moment) / MOMENTS, () => disturb(hold));
          });
          await Promise.all(releases);
        });
      }
    });

    it('leaves no session when its client closes at any moment of the release', async () => {
      const before = new Set(await site.sessions());
      for (let moment = 0; moment < MOMENTS; moment += 1) {
        const client = createLockClient(site.backend());
        const tookMs = await timeToRelease(client);
        const hold = await holdNow(client, `end-${moment}`);
        await releaseDisturbed(hold, (STRETCH * tookMs * moment) / MOMENTS, () => client.close());
      }
      await competitor.close();
      await untilHolds(
        'no session is left',
        async () => expect((await site.sessions()).filter((id) => !before.has(id))).to.be.empty,
      );
    });
  });
}

function holdNow(client: LockClient, name: string): Promise<Hold> {
  const giving = new AbortController();
  return new Promise((resolve, reject) => {
    const claim = client.claim(name, { signal: giving.signal }).subscribe((state) => {
      // Resolves the returned promise in the next iteration of the event loop, since `claim` may not be
      // assigned before.
      if (state.status === 'held') setImmediate(() => resolve({ giving, claim, ownership: state.ownership }));
      if (state.status === 'ended' && state.outcome === 'failed')
        reject(new Error(`${name} is not granted`, { cause: state.error }));
    });
  });
}

async function timeToRelease(client: LockClient): Promise<number> {
  const ownership = await client.acquire('how-long');
  const start = performance.now();
  await ownership.release();
  return performance.now() - start;
}
