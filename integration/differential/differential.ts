import { readArguments, refuseArguments } from '@queuelock/harness/command-line';
import { MODES, playAll, type Mode } from './play-all.ts';
import { STORE_NAMES, startStore, type StoreName } from './stores.ts';

const HELP = `pnpm differential [STORE…] --from SEED --to SEED

Plays the scripts of all seeds from --from up to, not including, --to on memory and on a real server of each store:
${STORE_NAMES.join(', ')}. Without a store it plays on all. Ends with exit code 1 when a store differs from memory or breaks a rule.

  --mode MODE     sequential or racing; default: both
  --at-once N     number of scripts that are played at the same time; default: 4`;

interface Options {
  readonly modes: readonly Mode[];
  readonly from: number;
  readonly to: number;
  readonly atOnce: number;
}

const text = { type: 'string' } as const;
const { values, positionals } = readArguments({ from: text, to: text, mode: text, 'at-once': text }, HELP);
const modes = MODES.filter((mode) => (values.mode ?? mode) === mode);
if (modes.length === 0) refuseArguments(`--mode "${values.mode}" is none of ${MODES.join(', ')}.`, HELP);
const options = {
  modes,
  from: numberOf('--from', values.from),
  to: numberOf('--to', values.to),
  atOnce: numberOf('--at-once', values['at-once'] ?? '4'),
};
const stores = positionals.length === 0 ? STORE_NAMES : positionals.map((name) => storeOf(name));
for (const name of stores) await playOn(name, options);

function numberOf(name: string, value: string | undefined): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number > 0) return number;
  return refuseArguments(`${name} "${value ?? ''}" is not a whole number above 0.`, HELP);
}

function storeOf(given: string): StoreName {
  const store = STORE_NAMES.find((name) => name === given);
  return store ?? refuseArguments(`STORE "${given}" is none of ${STORE_NAMES.join(', ')}.`, HELP);
}

async function playOn(name: StoreName, { modes, ...range }: Options): Promise<void> {
  const store = await startStore(name);
  try {
    for (const mode of modes) {
      const began = performance.now();
      let failed = 0;
      const onFailure = (text: string): void => {
        failed += 1;
        console.log(text);
      };
      const steps = await playAll(store, { mode, ...range, onFailure });
      const seconds = Math.round((performance.now() - began) / 1_000);
      const seeds = range.to - range.from;
      console.log(
        `${name}, ${mode}: ${seeds} scripts, ${steps} steps, ${failed} with problems, ${seconds} s`,
      );
      if (failed > 0) process.exitCode = 1;
    }
  } finally {
    await store.stop();
  }
}
