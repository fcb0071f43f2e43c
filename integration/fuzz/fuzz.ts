import { randomInt } from 'node:crypto';
import { readArguments, refuseArguments } from '@queuelock/harness/command-line';
import { runTarget } from '@queuelock/harness/fuzz/run-target';
import { TARGETS, moduleOf, type TargetName } from './targets.ts';

const HELP = `pnpm fuzz TARGET [--seconds N] [--seed N]

Feeds mutated recordings to the code that reads from the network. Ends with exit code 1 when a target does what it must not do.

  TARGET       ${TARGETS.join(', ')}
  --seconds N  how long; default: 60
  --seed N     repeats the inputs of an earlier run; default: by chance, printed`;

const options = { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } } as const;
const { positionals, values } = readArguments(options, HELP);
const target =
  TARGETS.find((name) => name === positionals[0]) ??
  refuseArguments(`TARGET "${positionals[0] ?? ''}" is none of ${TARGETS.join(', ')}.`, HELP);
const seconds = Number(values.seconds);
const seed = values.seed === undefined ? randomInt(2 ** 30) : Number(values.seed);
if (!(seconds > 0)) refuseArguments(`--seconds "${values.seconds}" is not a number above 0.`, HELP);
if (!Number.isSafeInteger(seed)) refuseArguments(`--seed "${values.seed}" is not a whole number.`, HELP);
process.exitCode = await fuzz(target);

async function fuzz(name: TargetName): Promise<number> {
  const { executions, seeds, growthBytes, finding } = await runTarget(moduleOf(name), { seconds, seed });
  const growth = `memory grew by ${(growthBytes / 2 ** 20).toFixed(1)} MB`;
  process.stdout.write(`${name}: seed ${seed}, ${executions} executions in ${seeds} batches, ${growth}\n`);
  if (finding !== undefined) process.stdout.write(`FOUND ${finding}\n`);
  return finding === undefined ? 0 : 1;
}
