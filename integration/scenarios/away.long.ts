import { expect } from 'chai';
import { layGround } from './ground.ts';
import { join } from './join.ts';
import { stores } from './stores.ts';
import { soon, untilHolds, untilNothingIsLeft } from './wait.ts';

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

    it('a client whose enqueue received no reply has one entry in its next session', async () => {
      const { site, proxy } = ground;
      const [away, competitor] = [connectThroughProxy({ ttlMs: site.ttlMs }), connect()];
      await (await away.acquire('warm-up')).release();
      const holder = await competitor.acquire('twice');
      // Makes the proxy refuse new connections. Otherwise a client that receives no data would soon
      // reconnect, and would be notified of its enqueue on the new connection.
      proxy.refuse();
      const reply = proxy.loseNextReply((chunk) => chunk.includes('lost-twice'));
      const placed = join(away, 'twice', { owner: 'lost-twice' });
      await reply.lost;
      const count = async (): Promise<number> => (await site.entries('twice')).length;
      await untilHolds('it is in the queue', async () => expect(await count()).to.equal(2));
      goDown();
      const isOver = async (): Promise<unknown> => expect(await count()).to.equal(1);
      await untilHolds('its session is over', isOver, EXPIRES_WITHIN_MS);
      await proxy.accept();
      const place = await soon(placed, 'it stands in line');
      expect(await site.entries('twice')).to.have.members([holder.key, place.key]);
      await holder.release();
      await (await soon(place.held, 'the lock is granted to it')).release();
      await untilNothingIsLeft(site, 'twice');
    });
  });
}
