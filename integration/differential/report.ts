import { compare } from './compare.ts';
import { replayed, type Script } from './script.ts';
import type { Problem } from './problem.ts';
import { shrunk } from './shrunk.ts';
import { textOf } from './step.ts';
import type { Store } from './store.ts';

/** Longest time in milliseconds for the search of a shorter script. */
const SHRINK_MS = 120_000;

export interface Failure {
  readonly script: Script;
  readonly mode: 'sequential' | 'racing';
  readonly problems: readonly Problem[];
}

/** Describes a failure with the shortest script that was found. A race is not shortened, since it depends on chance. */
export async function reportOf(store: Store, failure: Failure): Promise<string> {
  const { script, mode, problems } = failure.mode === 'racing' ? failure : await shortest(store, failure);
  const steps = script.moments.map(({ step }, at) => `  ${at + 1}. ${textOf(step)}`);
  const found = problems.map(({ rule, detail }) => `${rule}: ${detail}`);
  return [`${store.name}, seed ${script.seed}, ${mode}`, ...steps, ...found].join('\n');
}

/** Leaves out steps as long as the first rule is still broken. */
async function shortest(store: Store, failure: Failure): Promise<Failure> {
  let best = failure;
  const steps = failure.script.moments.map(({ step }) => step);
  await shrunk(steps, SHRINK_MS, async (fewer) => {
    const script = await replayed(failure.script, fewer);
    const problems = await compare(store, script);
    const isSame = problems[0]?.rule === failure.problems[0]?.rule;
    if (isSame) best = { ...failure, script, problems };
    return isSame;
  });
  return best;
}
