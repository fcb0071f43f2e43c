// Client program for the scenario `cold`: cold.mjs KIND cold name=…. A fresh process acquires and releases a
// free lock again and again, with the published packages. The program measures how long each cycle takes by
// its number, and how many JavaScript functions a cycle calls.
import { Session } from 'node:inspector/promises';
import { clientOver } from './backends.mjs';

const [kind, , ...rest] = process.argv.slice(2);
const { name } = Object.fromEntries(rest.map((argument) => argument.split('=')));

/**
 * The last cycle of each range. The last range shows the cycles of a process that has run for a long time.
 */
const RANGES = { At1: 1, To10: 10, To100: 100, To500: 500, To2000: 2_000, '': 10_000 };
const COUNTED = 100;

const locks = await clientOver(kind);
const never = new AbortController();

/**
 * Returns values for the cycles of each range, for instance `p50To10` and `cpuTo10`. A range begins after the
 * last cycle of the range before it.
 */
async function byRange() {
  const values = {};
  let cycle = 0;
  for (const [range, last] of Object.entries(RANGES)) {
    const times = [];
    const cpu = process.cpuUsage();
    for (; cycle < last; cycle += 1) {
      const begunAt = process.hrtime.bigint();
      const ownership = await locks.acquire(name);
      await ownership.release();
      times.push(Number(process.hrtime.bigint() - begunAt) / 1_000);
    }
    const { user, system } = process.cpuUsage(cpu);
    values[`p50${range}`] = times.sort((a, b) => a - b)[times.length >> 1];
    values[range === '' ? 'clientCpu' : `cpu${range}`] = (user + system) / times.length;
  }
  return values;
}

/** Returns how many functions one cycle calls, those of Node included. */
async function callsOf(cycle) {
  const inspector = new Session();
  inspector.connect();
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true });
  await inspector.post('Profiler.takePreciseCoverage');
  for (let i = 0; i < COUNTED; i += 1) await cycle();
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  inspector.disconnect();
  const counts = result
    .filter(({ url }) => url !== import.meta.url)
    .flatMap(({ functions }) => functions.map(({ ranges }) => ranges[0].count / COUNTED));
  // Functions that ran less often than in every other cycle belong to heartbeats, or to the counting itself.
  return counts.filter((count) => count >= 0.5).reduce((sum, count) => sum + count, 0);
}

const values = await byRange();
const calls = await callsOf(async () => (await locks.acquire(name)).release());
const work = () => locks.run(name, () => undefined, { timeoutMs: 60_000, signal: never.signal });
await work();
const runCalls = await callsOf(work);
process.stdout.write(`${JSON.stringify({ ...values, calls, runCalls })}\n`);
process.exit(0);
