import { endScripts } from '@queuelock/harness/services/script-process';
import { freezeHolder, killHolder, withHolder } from './holders.ts';
import { stores } from './stores.ts';

const ACTS = 100;

for (const store of stores) {
  describe(`dying holder, with ${store.name}`, function () {
    this.timeout(120_000);
    let killed: Promise<void>;
    let frozen: Promise<void>;

    // Both in parallel, because most of the time they wait for the TTL.
    before(async () => {
      const site = await store.share('a holder dies');
      killed = withHolder(site, 'killed', ACTS, killHolder);
      frozen = withHolder(site, 'frozen', ACTS, freezeHolder);
      await Promise.allSettled([killed, frozen]);
    });

    after(endScripts);

    it('killed: the next is granted after its TTL', () => killed);

    it('frozen longer than its TTL: it does not act once the next may hold', () => frozen);
  });
}
