import { expect } from 'chai';
import { layGround } from './ground.ts';
import { join } from './join.ts';
import { stores } from './stores.ts';
import { soon, untilNothingIsLeft } from './wait.ts';

// Time limit in milliseconds for the store to end a lost session. Usually that takes 3 s, but ten times as
// long on a busy machine.
const EXPIRES_WITHIN_MS = 30_000;

for (const store of stores) {
  describe(`while the connection to ${store.name} is down`, function () {
    this.timeout(60_000);
    const ground = layGround(store, 'while the connection is down');
    const { connect, connectThroughProxy } = ground;

    function goDown(): void {
      ground.proxy.refuse();
      ground.proxy.cut();
    }

    it('a release stays pending, and is repeated in the same session when the connection is restored', async () => {
      const { site, proxy } = ground;
      const [away, competitor] = [connectThroughProxy(), connect()];
      const [kept, mine] = [await away.acquire('kept'), await away.acquire('mine')];
      const next = await join(competitor, 'mine');
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

    it('a release does not affect the next holder if its session expires before the reconnection', async () => {
      const { site, proxy } = ground;
      const [away, otherClient] = [connectThroughProxy({ ttlMs: site.ttlMs }), connect()];
      const mine = await away.acquire('passed-on');
      const next = await join(otherClient, 'passed-on');
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
