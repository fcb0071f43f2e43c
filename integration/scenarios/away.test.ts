import { createLockClient, type LockClient, type LockClientOptions } from '@queuelock/core';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '../faults.ts';
import { join } from './join.ts';
import { stores, type OwnSite } from './stores.ts';
import { soon, untilNothingIsLeft } from './wait.ts';

// Ten times what it takes.
const EXPIRES_WITHIN_MS = 30_000;

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
      const holder = await soon(next.held, 'the lock is granted to the next', EXPIRES_WITHIN_MS);
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
  });
}
