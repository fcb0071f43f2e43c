import { parseArgs } from 'node:util';
import { compare } from './compare.ts';
import { race } from './race.ts';
import { reportOf } from './report.ts';
import { scriptOf } from './script.ts';
import { STORE_NAMES, startStore, type StoreName } from './stores.ts';

const HELP = `pnpm differential [STORE…] --from SEED --to SEED

Plays the scripts of all seeds from --from up to, not including, --to on memory and on a real server of each store:
${STORE_NAMES.join(', ')}. Without a store it plays on all. Ends with exit code 1 when a store differs from memory or breaks a rule.

  --mode MODE     sequential or racing; default: both
  --at-once N     number of scripts that are played at the same time; default: 4`;

const MODES = { sequential: compare, racing: race } as const;
type Mode = keyof typeof MODES;

interface Options {
  readonly stores: readonly StoreName[];
  readonly modes: readonly Mode[];
  readonly from: number;
  readonly to: number;
  readonly atOnce: number;
}

const options = optionsOf(process.argv.slice(2));
if (options) for (const name of options.stores) await playAll(name, options);
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
  const [from, to, atOnce] = [values.from, values.to, values['at-once'] ?? 4].map(Number) as [number, number, number];
  const stores = positionals.length === 0 ? STORE_NAMES : STORE_NAMES.filter((name) => positionals.includes(name));
  const modes = (Object.keys(MODES) as Mode[]).filter((mode) => (values.mode ?? mode) === mode);
  const areKnown = positionals.every((name) => stores.includes(name as StoreName)) && modes.length > 0;
  const areNumbers = [from, to, atOnce].every((value) => Number.isSafeInteger(value) && value > 0);
  return areKnown && areNumbers ? { stores, modes, from, to, atOnce } : undefined;
}

async function playAll(name: StoreName, { modes, from, to, atOnce }: Options): Promise<void> {
  const store = await startStore(name);
  try {
    for (const mode of modes) {
      const began = performance.now();
      let [next, steps, failed] = [from, 0, 0];
      const work = async (): Promise<void> => {
        for (let seed = next++; seed < to; seed = next++) {
          const script = await scriptOf(seed);
          steps += script.moments.length;
          const problems = await MODES[mode](store, script);
          if (problems.length === 0) continue;
          failed += 1;
          console.log(await reportOf(store, { script, mode, problems }));
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      const seconds = Math.round((performance.now() - began) / 1_000);
      console.log(`${name}, ${mode}: ${to - from} seeds, ${steps} steps, ${failed} with problems, ${seconds} s`);
      if (failed > 0) process.exitCode = 1;
    }
  } finally {
    await store.stop();
  }
}
