// Runs of the etcd backend and the core over a simulated cluster, the same ones every time.
//
//   node_modules/.bin/mocha packages/simulation/test/simulation.long.ts    others, for as long as one likes
import { expect } from 'chai';
import { product } from '../src/product.ts';
import { planOf } from '../src/run/plan.ts';
import { play } from '../src/run/play.ts';
import { goesWell } from './goes-well.ts';
import { hunt } from './hunt.ts';
import { MISTAKES } from './mistakes.ts';

const PARTS = 3;
const SEEDS_A_PART = 40;

describe('clients of a simulated etcd, with everything that may go wrong', () => {
  for (let part = 0; part < PARTS; part += 1) {
    const first = part * SEEDS_A_PART + 1;
    it(`keep every rule in the runs of the seeds ${first} to ${first + SEEDS_A_PART - 1}`, async () => {
      for (let seed = first; seed < first + SEEDS_A_PART; seed += 1) await goesWell(product, seed);
    }).timeout(300_000);
  }

  it('do the same things at the same times whenever a run is played', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const [one, other] = [await play(product, planOf(seed)), await play(product, planOf(seed))];
      expect(one).to.deep.equal(other);
    }
  }).timeout(60_000);
});

/** Of different kinds; all of them in `simulation.long.ts`. */
const SOON: ReadonlySet<string> = new Set([
  'a beat proves from its answer on',
  'the margin is added and not kept back',
  'one more than the limit is let in',
  'a removal without certainty keeps no late request out',
  'whoever begins to watch does not look',
  'a removal without an answer counts as done',
]);

describe('the rules notice soon that', () => {
  for (const mistake of MISTAKES.filter(({ what }) => SOON.has(what))) {
    it(mistake.what, async () => {
      const { broken } = await hunt(mistake, { first: 1, most: 40 });
      expect(mistake.noticedBy).to.include(broken);
    }).timeout(300_000);
  }
});
