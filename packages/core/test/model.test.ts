// Any history of three clients that contend for two names, on the memory backend, in virtual time: lost and late messages,
// clocks that run differently, machines that freeze, refusals, evictions, expiries, and every way to give up. After every
// event the rules of model/judge.ts are checked. The same seed makes the same histories, and a history always goes the
// same way: what fails prints its seed, its smallest counterexample and what happened in it.
//
//   MODEL_RUNS=100000 node_modules/.bin/mocha packages/core/test/model.test.ts -g 'any history'   (about 5 minutes)
//   MODEL_SEED=...                                                                                 the same histories again
import { expect } from 'chai';
import fc from 'fast-check';
import * as core from '../src/index.ts';
import { alteredCore } from './model/altered-core.ts';
import { BACKEND_DEFECTS } from './model/defects/backend.ts';
import { BEGINNING_DEFECTS } from './model/defects/beginning.ts';
import { CLOSING_DEFECTS } from './model/defects/closing.ts';
import { HOLDING_DEFECTS } from './model/defects/holding.ts';
import { JOINING_DEFECTS } from './model/defects/joining.ts';
import { LIVENESS_DEFECTS } from './model/defects/liveness.ts';
import { WAITING_DEFECTS } from './model/defects/waiting.ts';
import { FOUND } from './model/found.ts';
import { play } from './model/history.ts';
import { RULES, type Rule } from './model/judge.ts';
import { anyHistory } from './model/plan.ts';

const RUNS = Number(process.env['MODEL_RUNS'] ?? 1_500);
const SEED = process.env['MODEL_SEED'];
// Every defect is noticed in the first hundreds of histories of this seed; the bound is for the day when these change.
const HUNT = { seed: 1, numRuns: 4_000, endOnFailure: true };
const DEFECTS = [
  ...LIVENESS_DEFECTS,
  ...JOINING_DEFECTS,
  ...WAITING_DEFECTS,
  ...BEGINNING_DEFECTS,
  ...HOLDING_DEFECTS,
  ...CLOSING_DEFECTS,
  ...BACKEND_DEFECTS,
];

describe('any history of clients, faults and an operator', () => {
  it(`keeps every rule (${RUNS} histories)`, async () => {
    const property = fc.asyncProperty(anyHistory, async (history) => {
      const { broken, trace } = await play(core, history);
      if (broken) throw new Error(`${broken}: ${RULES[broken]}\n${trace.join('\n')}`);
    });
    await fc.assert(property, { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) });
  }).timeout(0);

  it('goes the same way when it is played again', async () => {
    for (const history of fc.sample(anyHistory, { seed: 1, numRuns: 50 })) {
      const { trace } = await play(core, history);
      expect((await play(core, history)).trace).to.deep.equal(trace);
    }
  });
});

describe('a history that went wrong once', () => {
  for (const { fact, mistake, history } of FOUND) {
    it(`goes well: ${fact}`, async () => {
      expect((await play(core, history)).broken).to.equal(undefined);
      const defect = DEFECTS.find(({ what }) => what === mistake);
      const altered = await alteredCore(defect!.alterations ?? []);
      expect((await play(altered, history)).broken, 'with the mistake').to.be.oneOf([...defect!.noticedBy]);
    });
  }
});

describe('the rules notice that', () => {
  const noticing = new Set<Rule>();

  for (const { what, noticedBy, alterations = [], spoil } of DEFECTS) {
    it(what, async function () {
      const altered = await alteredCore(alterations);
      let broken: Rule | undefined;
      const property = fc.asyncProperty(anyHistory, async (history) => {
        ({ broken } = await play(altered, history, spoil));
        return broken === undefined;
      });
      const { numRuns } = await fc.check(property, HUNT);
      expect(noticedBy).to.include(broken);
      this.test!.title += `: ${String(broken)} (history ${numRuns})`;
      noticing.add(broken!);
    }).timeout(60_000);
  }

  it('none of them is idle: each notices a defect', () => {
    expect([...noticing].sort()).to.deep.equal(Object.keys(RULES).sort());
  });
});
