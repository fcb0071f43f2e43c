// Plays some hundred scripts on each store. `pnpm differential` plays more, and shortens a script that fails.
// The first seed is random, or the one in `QUEUELOCK_SEED`:
//
//   QUEUELOCK_SEED=17 npx mocha integration/differential/differential.long.ts -g redis
import { randomInt } from 'node:crypto';
import { orSkip } from '@queuelock/harness/services/skip';
import { expect } from 'chai';
import { MODES, playAll } from './play-all.ts';
import { STORE_NAMES, startStore } from './stores.ts';

const SEEDS = 100;

for (const name of STORE_NAMES) {
  describe(`random scripts on ${name}`, function () {
    this.timeout(1_200_000);

    for (const mode of MODES)
      it(`lead to the same states as on the memory backend and break no rule, in ${mode} mode`, async function () {
        const from = Number(process.env['QUEUELOCK_SEED'] ?? randomInt(2 ** 30));
        const store = await orSkip(this, startStore(name));
        try {
          const failures: string[] = [];
          const range = { from, to: from + SEEDS, atOnce: 4 };
          const steps = await playAll(store, { mode, ...range, onFailure: (text) => failures.push(text) });
          this.test!.title += `, ${SEEDS} scripts with ${steps} steps from seed ${from}`;
          expect(failures.join('\n')).to.equal('');
        } finally {
          await store.stop();
        }
      });
  });
}
