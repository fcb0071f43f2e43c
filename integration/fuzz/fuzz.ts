import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runTarget } from '@queuelock/harness/fuzz/run-target';
import { TARGETS, moduleOf, type TargetName } from './targets.ts';

const USAGE = `pnpm fuzz TARGET --seconds N [--seed N]\ntargets: ${TARGETS.join(', ')}`;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } },
});
const target = TARGETS.find((name) => name === positionals[0]);
const seconds = Number(values.seconds);
const seed = values.seed === undefined ? randomInt(2 ** 30) : Number(values.seed);
if (!target || !(seconds > 0) || !Number.isSafeInteger(seed)) {
  process.stderr.write(`${USAGE}\n`);
  process.exitCode = 2;
} else process.exitCode = await fuzz(target);

async function fuzz(name: TargetName): Promise<number> {
  const { executions, seeds, growthBytes, finding } = await runTarget(moduleOf(name), { seconds, seed });
  const growth = `memory grew by ${(growthBytes / 2 ** 20).toFixed(1)} MB`;
  process.stdout.write(`${name}: seed ${seed}, ${executions} executions in ${seeds} batches, ${growth}\n`);
  if (finding !== undefined) process.stdout.write(`FOUND ${finding}\n`);
  return finding === undefined ? 0 : 1;
}
