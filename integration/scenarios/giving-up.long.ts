import { attempts, closeAtAnyMoment, giveUpAtAnyMoment, LOCKS } from './giving-up.ts';
import { layGround } from './ground.ts';
import { stores } from './stores.ts';

const DELAY_MS = 15;
const MOMENTS = 60;

for (const store of stores) {
  describe(`a disturbed acquisition, with ${store.name}`, function () {
    this.timeout(120_000);
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
  });
}
