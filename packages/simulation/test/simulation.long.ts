// Simulates core and a backend over a simulated store, with new random runs every time. Also checks that each mutant is detected.
//
//   QUEUELOCK_SIMULATION_SECONDS=600 node_modules/.bin/mocha packages/simulation/test/simulation.long.ts -g 'keep every rule'
//   QUEUELOCK_SEED=...                                     starts with that seed
//   QUEUELOCK_UPDATE=1 … -g 'mutants in runs over etcd'    writes mutants/killed.json
import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import { product } from '../src/product.ts';
import { goesWell } from './goes-well.ts';
import { killMutant } from './kill-mutant.ts';
import { writeKilledMutants, type KilledMutant } from './killed-mutants.ts';
import { MUTANTS } from './mutants.ts';

const SECONDS = Number(process.env['QUEUELOCK_SIMULATION_SECONDS'] ?? 60);

for (const store of ['etcd', 'zookeeper'] as const) {
  describe(`clients of a simulated ${store} under all faults`, () => {
    it(`keep every rule in random runs for ${SECONDS} s`, async function () {
      const first = Number(process.env['QUEUELOCK_SEED'] ?? randomInt(2 ** 30));
      const began = performance.now();
      const sum = { runs: 0, events: 0, grants: 0 };
      for (let seed = first; performance.now() - began < SECONDS * 1_000; seed += 1) {
        const { events, grants } = await goesWell(product, { seed, store });
        sum.runs += 1;
        sum.events += events;
        sum.grants += grants;
      }
      const seconds = (performance.now() - began) / 1_000;
      const rate = (count: number): string => `${Math.round(count / seconds)}/s`;
      const reported = `from seed ${first}: ${sum.runs} runs (${rate(sum.runs)}), ${sum.events} events (${rate(sum.events)})`;
      this.test!.title += `, ${reported}, ${sum.grants} grants`;
      expect(sum.grants).to.be.greaterThan(0);
    }).timeout(0);
  });

  describe(`mutants in runs over ${store} from seed 1 on: the rules detect that`, () => {
    const needed = new Map<string, KilledMutant>();
    for (const mutant of MUTANTS[store]) {
      it(mutant.what, async function () {
        const { broken, runs } = await killMutant(mutant, { store, first: 1 });
        expect(mutant.killedBy).to.include(broken);
        this.test!.title += `: "${String(broken)}" in run ${runs}`;
        if (broken) needed.set(mutant.what, { runs, rule: broken });
      }).timeout(0);
    }

    after(() => {
      const runs = Array.from(needed.values(), (killed) => killed.runs).sort((one, other) => one - other);
      const [median = 0, most = 0] = [runs[Math.floor(runs.length / 2)], runs.at(-1)];
      console.log(`    ${runs.length} mutants: half of them within ${median} runs, all within ${most}`);
      if (process.env['QUEUELOCK_UPDATE'] !== undefined) writeKilledMutants(store, needed);
    });
  });
}
