import { createLockClient, type LockClient, type LockClientOptions } from '@queuelock/core';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '../faults.ts';
import { join } from './join.ts';
import { stores, type OwnSite } from './stores.ts';
import { soon, untilHolds, untilNothingIsLeft } from './wait.ts';

for (const store of stores) {
  describe(`while the connection to ${store.name} is down`, function () {
    this.timeout(60_000);
    let site: OwnSite;
    let proxy: TcpProxy;
    /** Behind the proxy. */
    let away: LockClient;
    let rival: LockClient;

    before(async () => {
      site = await store.start('while the connection is down');
    });

    beforeEach(async () => {
      proxy = await startProxy(site.endpoint);
      rival = createLockClient(site.backend());
    });

    afterEach(async () => {
      // In this order: ZooKeeper's client stands still until a connection that is there has answered to its end, and the
      // proxy with it.
      await proxy.stop();
      await Promise.all([away.close(), rival.close()]);
    });

    after(async () => {
      await site.server.stop();
    });

    function connect(options: LockClientOptions = {}): void {
      away = createLockClient(site.backend(proxy.endpoint), options);
    }

    function goDown(): void {
      proxy.refuse();
      proxy.cut();
    }

    it('a release is made up for when it is back, in the same session, and the next one holds', async () => {
      connect();
      const [kept, mine] = [await away.acquire('kept'), await away.acquire('mine')];
      const next = await join(rival, 'mine');
      goDown();
      const released = mine.release();
      expect(mine.held).to.equal(false);
      await proxy.accept();
      await soon(released, 'the release is confirmed');
      await (await soon(next.held, 'the lock is granted to the next')).release();
      expect(kept.held).to.equal(true);
      await kept.release();
      await untilNothingIsLeft(site, 'mine');
    });

    it('a release ends with the session, and what comes with the next one leaves the new holder alone', async () => {
      connect({ ttlMs: site.ttlMs });
      const mine = await away.acquire('passed-on');
      const next = await join(rival, 'passed-on');
      goDown();
      const released = mine.release();
      const holder = await soon(next.held, 'the lock is granted to the next', site.ttlMs + 5_000);
      await proxy.accept();
      await soon(released, 'the release is over');
      await mine.release();
      const again = await join(away, 'passed-on');
      expect(await site.entries('passed-on')).to.have.members([holder.key, again.key]);
      expect(holder.held).to.equal(true);
      await holder.release();
      await (await soon(again.held, 'the lock is granted in the new session')).release();
      await untilNothingIsLeft(site, 'passed-on');
    });

    it('an enqueue whose reply was lost goes with its session, and stands once in the next one', async () => {
      connect({ ttlMs: site.ttlMs });
      await (await away.acquire('warm-up')).release();
      const holder = await rival.acquire('twice');
      const reply = proxy.loseNextReply((chunk) => chunk.includes('lost-twice'));
      const placed = join(away, 'twice', { owner: 'lost-twice' });
      await reply.lost;
      const count = async (): Promise<number> => (await site.entries('twice')).length;
      await untilHolds('it is in the queue', async () => expect(await count()).to.equal(2));
      goDown();
      await untilHolds('its session is over', async () => expect(await count()).to.equal(1));
      await proxy.accept();
      const place = await soon(placed, 'it stands in line');
      expect(await site.entries('twice')).to.have.members([holder.key, place.key]);
      await holder.release();
      await (await soon(place.held, 'the lock is granted to it')).release();
      await untilNothingIsLeft(site, 'twice');
    });
  });
}
