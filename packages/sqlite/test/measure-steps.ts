// Measures how long steps block the event loop. For comparison, measures the same amount of plain computing,
// which shows how busy the machine is. From the root of the repository: node --conditions=@queuelock/source
// --import ./.ci/tsx.mjs packages/sqlite/test/measure-steps.ts [STEPS]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqlite } from '@queuelock/sqlite';
import { percentile } from './contest.ts';
import { newSpec } from '@queuelock/harness/specs';

const [steps = 10_000] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), 'queuelock-measure-'));
const backend = sqlite({ file: join(directory, 'locks.db') });
const session = await backend.open(60_000, new AbortController().signal);

/** Calls `call` repeatedly, and returns for each call how many milliseconds it blocked the event loop. */
async function times(call: () => unknown): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let step = 0; step < steps; step += 1) {
    const begun = performance.now();
    const reply = call();
    taken.push(performance.now() - begun);
    await reply;
  }
  return taken;
}

function compute(): void {
  let sum = 0;
  for (let n = 0; n < 60_000; n += 1) sum += n * n;
  if (sum < 0) throw new Error('it cannot be');
}

const spec = newSpec();
let inside = false;
const step = (): Promise<unknown> => {
  inside = !inside;
  return inside ? session.enqueue(spec) : session.remove(spec.queue, spec.id);
};
for (const [what, call] of [
  ['steps', step],
  ['computing', compute],
] as const) {
  const taken = await times(call);
  const [p50 = '', p99 = '', p999 = ''] = [0.5, 0.99, 0.999].map((share) =>
    percentile(taken, share).toFixed(2),
  );
  console.log(`${what}: p50 ${p50} ms, p99 ${p99} ms, p99.9 ${p999} ms`);
}
await backend.close();
rmSync(directory, { recursive: true });
