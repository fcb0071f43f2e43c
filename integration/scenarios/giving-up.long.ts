import { attempts, closeAtAnyMoment, giveUpAtAnyMoment, LOCKS } from './giving-up.ts';
import { layGround } from './ground.ts';
import { stores } from './stores.ts';

const DELAY_MS = 15;
const MOMENTS = 60;

for (const store of stores) {
  describe(`giving up, with ${store.name}`, function () {
    this.timeout(120_000);
    const ground = layGround(store, 'giving up');
    const { connect, connectThroughProxy } = ground;

    for (const by of Object.keys(attempts)) {
      for (const lock of LOCKS) {
        it(`34: by ${by}, at any moment on a ${lock} lock, it leaves nothing and holds nobody up`, async () => {
          ground.proxy.toServer.delay(DELAY_MS);
          ground.proxy.toClient.delay(DELAY_MS);
          const parties = { site: ground.site, hesitant: connectThroughProxy(), rival: connect() };
          await giveUpAtAnyMoment(parties, { by, lock, moments: MOMENTS });
        });
      }
    }

    it('34: by closing a client, at any moment of its first acquisition, it leaves no session either', async () => {
      await closeAtAnyMoment({ site: ground.site, rival: connect() }, MOMENTS);
    });
  });
}
