import type { Machine } from '../timeline.ts';
import type { Ensemble } from './ensemble.ts';
import type { Leading } from './leading.ts';
import type { Step } from './prepare.ts';
import type { Tree } from './tree.ts';

const AGAIN_MS = 500;

/** Lets somebody without a session do it once, whatever happens to the ensemble, as soon as it can be. */
export function certainly(
  ensemble: Ensemble,
  fate: Machine,
  work: { readonly step: (tree: Tree) => Step | undefined; readonly done: (path: string) => void },
): void {
  let isDone = false;
  let asked: Leading | undefined;
  const attempt = (): void => {
    if (isDone) return;
    const { leading } = ensemble;
    // One attempt is over when its leader is: what it could not have committed is gone.
    if (leading && leading !== asked && ensemble.hasQuorum(leading)) {
      asked = leading;
      const step = work.step(leading.tree);
      isDone = step === undefined;
      if (step)
        leading.operate(step, (path) => {
          if (!isDone && path !== undefined) work.done(path);
          isDone = true;
        });
    }
    fate.after(AGAIN_MS, attempt);
  };
  attempt();
}
