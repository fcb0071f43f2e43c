import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { alteredCore } from './model/altered-core.ts';
import { play } from './model/history.ts';
import { anyHistory } from './model/plan.ts';
const core = await alteredCore(JSON.parse(readFileSync('/tmp/fixes.json', 'utf8')));
const N = 3000;
const hs = fc.sample(anyHistory, { numRuns: N, seed: 5 });
const counts = new Map<string, number>();
const inHist = new Map<string, number>();
const t = performance.now();
for (const h of hs) {
  const { trace } = await play(core, h);
  const seen = new Set<string>();
  for (const line of trace) {
    const key = line
      .slice(7)
      .replace(/c\d(\.\d+)?/g, 'C')
      .replace(/[ab]\/\d+/g, 'K')
      .replace(/session-\d+/, 'S')
      .replace(/".*?"/g, '"')
      .replace(/\d+/g, 'N')
      .replace(/^\{.*/, 'trouble')
      .slice(0, 70);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    seen.add(key);
  }
  for (const k of seen) inHist.set(k, (inHist.get(k) ?? 0) + 1);
}
console.log((performance.now() - t) / N, 'ms');
for (const [k, v] of [...inHist].sort((a, b) => b[1] - a[1]).slice(0, 70))
  console.log(((v / N) * 100).toFixed(1) + '%', (counts.get(k)! / N).toFixed(2), k);
