import { endScripts } from '@queuelock/harness/services/script-process';
import { freezeHolder, killHolder, withHolder } from './holders.ts';
import { stores } from './stores.ts';

const ACTS = 100;

for (const store of stores) {
  describe(`a holder that dies, with ${store.name}`, function () {
    this.timeout(120_000);
    let killed: Promise<void>;
    let frozen: Promise<void>;

    // Kills one holder and freezes another one at the same time, which saves time because both tests mostly
    // wait for the TTL.
    before(async () => {
      const site = await store.share('a holder dies');
      killed = withHolder(site, 'killed', ACTS, killHolder);
      frozen = withHolder(site, 'frozen', ACTS, freezeHolder);
      await Promise.allSettled([killed, frozen]);
    });

    after(endScripts);

    it('is followed by the next waiter after the TTL when the holder is killed', () => killed);

    it('does not act as the holder after it was frozen for longer than its TTL', () => frozen);
  });
}
