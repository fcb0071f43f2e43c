// Simulates core and a backend over a simulated store, with the same runs every time.
//
//   node_modules/.bin/mocha packages/simulation/test/simulation.long.ts    simulates new random runs
import { expect } from 'chai';
import { product } from '../src/product.ts';
import { planOf } from '../src/run/plan-of.ts';
import { play } from '../src/run/play.ts';
import { goesWell } from './goes-well.ts';
import { killMutant } from './kill-mutant.ts';
import { MUTANTS } from './mutants.ts';

const SEEDS = 10;
const TWICE = [1, 2] as const;
/** Seeds whose runs once found a defect of the product or of the checks. */
const WRONG_ONCE = {
  etcd: [2_973, 3_546, 402_612, 606_168, 811_162, 829_702, 850_997],
  zookeeper: [401_997, 805_150, 904_725, 921_680],
} as const;

/**
 * Some mutants of different kinds, each detected within a few runs. `simulation.long.ts` checks all mutants.
 */
const SOON = {
  etcd: ['one more entry than the limit is admitted', 'a waiter does not read after its watch begins'],
  zookeeper: ['one more entry than the limit is admitted', 'the removal of a node causes no notification'],
} as const;
const MAX_RUNS = 20;

for (const store of ['etcd', 'zookeeper'] as const) {
  describe(`clients of a simulated ${store} under all faults`, () => {
    it(`keep every rule in the runs of the seeds 1 to ${SEEDS}`, async () => {
      for (let seed = 1; seed <= SEEDS; seed += 1) await goesWell(product, { seed, store });
    }).timeout(600_000);

    for (const seed of WRONG_ONCE[store])
      it(`keep every rule in the run of seed ${seed}`, () => goesWell(product, { seed, store })).timeout(
        60_000,
      );

    it('produce the same events at the same times when a run is repeated', async () => {
      for (const seed of TWICE) {
        const plan = planOf(seed, store);
        expect(await play(product, plan)).to.deep.equal(await play(product, plan));
      }
    }).timeout(120_000);
  });

  describe(`mutants in few runs over ${store}: the rules detect that`, () => {
    for (const what of SOON[store])
      it(what, async () => {
        const mutant = MUTANTS[store].find((one) => one.what === what);
        const { broken } = await killMutant(mutant!, { store, first: 1, most: MAX_RUNS });
        expect(mutant!.killedBy).to.include(broken);
      }).timeout(300_000);
  });
}
