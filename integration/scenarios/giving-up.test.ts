import { safely } from '@queuelock/conformance';
import type { LockClient } from '@queuelock/core';
import { expect } from 'chai';
import type { TcpProxy } from '@queuelock/harness/faults';
import { attempts, closeAtAnyMoment, giveUpAtAnyMoment, LOCKS } from './giving-up.ts';
import { layGround } from './ground.ts';
import { join } from './join.ts';
import { stores } from './stores.ts';
import type { OwnSite } from './store.ts';
import { soon, untilNothingIsLeft } from './wait.ts';

const DELAY_MS = 15;
const MOMENTS = 5;

for (const store of stores) {
  describe(`a disturbed acquisition, with ${store.name}`, function () {
    this.timeout(60_000);
    const ground = layGround(store, 'giving up');
    const { connect, connectThroughProxy } = ground;

    for (const by of Object.keys(attempts)) {
      for (const lock of LOCKS) {
        it(`leaves no entry and blocks no waiter when ${by} ends it at any moment (state of the lock: ${lock})`, async () => {
          ground.proxy.toServer.delay(DELAY_MS);
          ground.proxy.toClient.delay(DELAY_MS);
          const parties = { site: ground.site, hesitant: connectThroughProxy(), competitor: connect() };
          await giveUpAtAnyMoment(parties, { by, lock, moments: MOMENTS });
        });
      }
    }

    it('leaves no session when its client closes, at any moment of its first acquisition', async () => {
      await closeAtAnyMoment({ site: ground.site, competitor: connect() }, MOMENTS);
    });

    describe('on a connection that is cut', () => {
      let site: OwnSite;
      let proxy: TcpProxy;
      let hesitant: LockClient;
      let competitor: LockClient;

      beforeEach(() => {
        ({ site, proxy } = ground);
        [hesitant, competitor] = [connectThroughProxy(), connect()];
      });

      it('has one entry in the queue after a lost reply to the enqueue', async () => {
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

      it('keeps its position after a lost reply to the enqueue', async () => {
        await warmUp(hesitant);
        const holder = await competitor.acquire('place');
        const reply = proxy.loseNextReply((chunk) => chunk.includes('lost-place'));
        const place = join(hesitant, 'place', { owner: 'lost-place' });
        const connection = await reply.lost;
        const behind = await join(competitor, 'place');
        connection.cut();
        const { order, held } = await soon(place, 'it stands in line');
        safely(() => expect(order < behind.order).to.equal(true));
        expect(await site.entries('place')).to.have.lengthOf(3);
        await holder.release();
        await (await soon(held, 'the lock is granted to the one behind')).release();
        await (await soon(behind.held, 'the lock is granted to the last')).release();
        await untilNothingIsLeft(site, 'place');
      });

      it('leaves no entry when it is aborted after a lost reply to the enqueue', async () => {
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
          await (await soon((await join(competitor, name)).held, `${name} is granted to the next`)).release();
          await untilNothingIsLeft(site, name);
        }
      });

      it('is released once when the reply to its release is lost', async () => {
        const ownership = await hesitant.acquire('release');
        const next = await join(competitor, 'release');
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

/** Takes and releases a lock once, which opens the session and the connections of the client. */
async function warmUp(client: LockClient): Promise<void> {
  await (await client.acquire('warm-up')).release();
}
