import fc from 'fast-check';
import * as core from '../src/index.ts';
import { play } from './model/history.ts';
import { anyHistory } from './model/plan.ts';
const N = 2000;
const t0 = process.cpuUsage();
const hs = fc.sample(anyHistory, { numRuns: N, seed: 5 });
const g = process.cpuUsage(t0);
const c0 = process.cpuUsage(); const w = performance.now();
for (const h of hs) { const v = await play(core, h); if (v.broken) console.log(v.broken); }
const c = process.cpuUsage(c0);
console.log('gen cpu ms', g.user / 1000 / N, 'play wall', (performance.now() - w) / N, 'cpu', (c.user + c.system) / 1000 / N);
