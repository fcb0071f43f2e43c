import { expect } from 'chai';
import { layGround, stores } from './served.ts';
import { seen, Tab } from './stage.ts';

for (const [name, start] of stores) {
  describe(`the bridge over ${name}`, function () {
    this.timeout(60_000);
    const ground = layGround(start);
    const { page } = ground;

    it(`reports that the store is down, and shows current snapshots again when the store is back (${name})`, async () => {
      const read$ = page().queue('restarted');
      const observeOptions = read$.subscribe();
      await seen(read$, ({ snapshot }) => snapshot?.status === 'live');
      const stale = seen(read$, ({ snapshot }) => snapshot?.status === 'stale');
      await ground.store.restart();
      expect((await stale).connection).to.equal('live');
      await seen(read$, ({ snapshot }) => snapshot?.status === 'live');
      const tab = new Tab(page().join('restarted'));
      const { lock } = await tab.until('held');
      await lock.release();
      tab.close();
      observeOptions.unsubscribe();
    });
  });
}
