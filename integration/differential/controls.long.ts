import { createMemoryServer, memory } from '@queuelock/memory';
import { expect } from 'chai';
import { compare } from './compare.ts';
import { DEFECTS, defective } from './controls.ts';
import { memoryStore } from './memory-store.ts';
import type { Problem } from './problem.ts';
import { race } from './race.ts';
import { scriptOf } from './script.ts';
import type { Store } from './store.ts';

const SEEDS = 40;

/**
 * For each defect of a store, the rules that a store with this defect must break. Each rule comes with the
 * function that plays the scripts in which the violation must occur.
 */
const FOUND_BY: Readonly<
  Record<string, readonly (readonly [rule: Problem['rule'], mode: typeof compare])[]>
> = {
  'grants early': [
    ['state', compare],
    ['S2', race],
  ],
  'repeats a token': [
    ['state', compare],
    ['story', race],
  ],
  'forgets a loss': [['state', compare]],
  'swaps two waiters': [
    ['state', compare],
    ['F1', race],
  ],
};

function defectiveStore(defect: string): Store {
  const server = createMemoryServer();
  const shared = DEFECTS[defect]!();
  return memoryStore(server, () => defective(memory({ server }), shared));
}

describe('a comparison of stores by random scripts', function () {
  this.timeout(300_000);

  for (const [defect, rules] of Object.entries(FOUND_BY))
    for (const [rule, play] of rules)
      it(`(control) detects that a store ${defect}, as a violation of rule ${rule} in ${play === race ? 'racing' : 'sequential'} mode`, async () => {
        const found = new Set<string>();
        for (let seed = 1; seed <= SEEDS && !found.has(rule); seed += 1) {
          const script = await scriptOf(seed);
          for (const problem of await play(defectiveStore(defect), script)) found.add(problem.rule);
        }
        expect([...found]).to.include(rule);
      });
});
