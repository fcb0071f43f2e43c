import { expect } from 'chai';
import fc from 'fast-check';
import * as core from '../src/index.ts';
import { alteredCore } from './model/altered-core.ts';
import { BACKEND_DEFECTS } from './model/defects/backend.ts';
import { CLOSING_DEFECTS } from './model/defects/closing.ts';
import { HOLDING_DEFECTS } from './model/defects/holding.ts';
import { JOINING_DEFECTS } from './model/defects/joining.ts';
import { LIVENESS_DEFECTS } from './model/defects/liveness.ts';
import { WAITING_DEFECTS } from './model/defects/waiting.ts';
import { play } from './model/history.ts';
import { RULES, type Rule } from './model/judge.ts';
import { anyHistory } from './model/plan.ts';

const HUNT = { seed: 1, numRuns: 4_000 };
const DEFECTS = [
  ...LIVENESS_DEFECTS,
  ...JOINING_DEFECTS,
  ...WAITING_DEFECTS,
  ...HOLDING_DEFECTS,
  ...CLOSING_DEFECTS,
  ...BACKEND_DEFECTS,
];

describe('the model notices', () => {
  const noticing = new Set<Rule>();
  for (const defect of DEFECTS) {
    it(defect.what, async function () {
      const t0 = performance.now();
      const altered = await alteredCore(defect.alterations ?? []);
      const t1 = performance.now();
      let noticedBy: Rule | undefined;
      let tr: readonly string[] = [];
      const { numRuns } = await fc.check(
        fc.asyncProperty(anyHistory, async (history) => {
          const { broken, trace } = await play(altered, history, defect.spoil);
          noticedBy ??= broken;
          if (broken) tr = trace;
          return broken === undefined;
        }),
        { ...HUNT, endOnFailure: true },
      );
      this.test!.title += ` (${numRuns} histories: ${noticedBy}) load ${(t1 - t0).toFixed(0)} hunt ${(performance.now() - t1).toFixed(0)}`;
      if (noticedBy) noticing.add(noticedBy);
      if (process.env['SHOW']) console.log(tr.join('\n'));
      expect(defect.noticedBy).to.include(noticedBy);
    }).timeout(60_000);
  }
  it('all rules', () => {
    expect(Object.keys(RULES).filter((rule) => !noticing.has(rule as Rule))).to.deep.equal([]);
  });
});
