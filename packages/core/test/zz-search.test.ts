import fc from 'fast-check';
import { alteredCore } from './model/altered-core.ts';
import { play } from './model/history.ts';
import { anyHistory } from './model/plan.ts';
import { readFileSync } from 'node:fs';

const runs = Number(process.env['MODEL_RUNS'] ?? 1_500);
it('x', async () => {
  const fixes = JSON.parse(readFileSync('/tmp/fixes.json', 'utf8'));
  const core = await alteredCore(fixes);
  const started = performance.now();
  let n = 0;
  try {
    await fc.assert(
      fc.asyncProperty(anyHistory, async (history) => {
        n++;
        const { broken, trace } = await play(core, history);
        if (broken) throw new Error(`${broken}\n${trace.join('\n')}`);
      }),
      { numRuns: runs, ...(process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {}) },
    );
  } finally {
    console.log(n, 'histories', (n / (performance.now() - started)) * 1000, 'per s');
  }
}).timeout(0);
