import { parseArgs } from 'node:util';
import { MODES, playAll, type Mode } from './play-all.ts';
import { STORE_NAMES, startStore, type StoreName } from './stores.ts';

const HELP = `pnpm differential [STORE…] --from SEED --to SEED

Plays the scripts of all seeds from --from up to, not including, --to on memory and on a real server of each store:
${STORE_NAMES.join(', ')}. Without a store it plays on all. Ends with exit code 1 when a store differs from memory or breaks a rule.

  --mode MODE     sequential or racing; default: both
  --at-once N     number of scripts that are played at the same time; default: 4`;

interface Options {
  readonly stores: readonly StoreName[];
  readonly modes: readonly Mode[];
  readonly from: number;
  readonly to: number;
  readonly atOnce: number;
}

const options = optionsOf(process.argv.slice(2));
if (options) for (const name of options.stores) await playOn(name, options);
else {
  console.error(HELP);
  process.exitCode = 2;
}

function optionsOf(args: readonly string[]): Options | undefined {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { from: text, to: text, mode: text, 'at-once': text },
  });
  const [from, to, atOnce] = [values.from, values.to, values['at-once'] ?? 4].map(Number) as [
    number,
    number,
    number,
  ];
  const stores =
    positionals.length === 0 ? STORE_NAMES : STORE_NAMES.filter((name) => positionals.includes(name));
  const modes = MODES.filter((mode) => (values.mode ?? mode) === mode);
  const areKnown = positionals.every((name) => stores.includes(name as StoreName)) && modes.length > 0;
  const areNumbers = [from, to, atOnce].every((value) => Number.isSafeInteger(value) && value > 0);
  return areKnown && areNumbers ? { stores, modes, from, to, atOnce } : undefined;
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
