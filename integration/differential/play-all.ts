import { compare } from './compare.ts';
import type { Problem } from './problem.ts';
import { race } from './race.ts';
import { replayed, scriptOf, type Script } from './script.ts';
import { shrunk } from './shrunk.ts';
import { textOf } from './step.ts';
import type { Store } from './store.ts';

/**
 * The ways to play a script. `sequential`: after each step the store has to reach the state that the memory
 * backend reached. `racing`: all clients perform their steps at the same time.
 */
export const MODES = ['sequential', 'racing'] as const;
export type Mode = (typeof MODES)[number];

/** Longest time in milliseconds that the search for a shorter script with the same failure may take. */
const SHRINK_MS = 120_000;

export interface Range {
  readonly mode: Mode;
  /** The first of the seeds from which scripts are made. */
  readonly from: number;
  /** The seed at which to stop; no script is made from it. */
  readonly to: number;
  /** Number of scripts that are played at the same time. */
  readonly atOnce: number;
  /** Called with a description of each script that fails. */
  readonly onFailure: (text: string) => void;
}

interface Failure {
  readonly script: Script;
  readonly problems: readonly Problem[];
}

/**
 * Makes scripts from a range of seeds, and plays them on a store. Resolves with the total number of their
 * steps.
 */
export async function playAll(store: Store, { mode, from, to, atOnce, onFailure }: Range): Promise<number> {
  const play = mode === 'racing' ? race : compare;
  let [next, steps] = [from, 0];
  const work = async (): Promise<void> => {
    for (let seed = next++; seed < to; seed = next++) {
      const script = await scriptOf(seed);
      steps += script.moments.length;
      const problems = await play(store, script);
      if (problems.length === 0) continue;
      // Does not shorten a script that was played in the mode `racing`, since its outcome depends on chance.
      const failure = mode === 'racing' ? { script, problems } : await shortest(store, { script, problems });
      onFailure(`${store.name}, ${mode}, seed ${seed}\n${textOfFailure(failure)}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return steps;
}

/**
 * Leaves out steps of a failing script as long as the first rule that the script breaks stays the same.
 * Returns the shortest script found.
 */
async function shortest(store: Store, failure: Failure): Promise<Failure> {
  let best = failure;
  const steps = failure.script.moments.map(({ step }) => step);
  await shrunk(steps, SHRINK_MS, async (fewer) => {
    const script = await replayed(failure.script, fewer);
    const problems = await compare(store, script);
    const isSame = problems[0]?.rule === failure.problems[0]?.rule;
    if (isSame) best = { script, problems };
    return isSame;
  });
  return best;
}

function textOfFailure({ script, problems }: Failure): string {
  const steps = script.moments.map(({ step }, at) => `  ${at + 1}. ${textOf(step)}`);
  return [...steps, ...problems.map(({ rule, detail }) => `${rule}: ${detail}`)].join('\n');
}
