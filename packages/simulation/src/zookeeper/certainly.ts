import type { Machine } from '../timeline.ts';
import type { Ensemble } from './ensemble.ts';
import type { Leading } from './leading.ts';
import type { Step } from './prepare.ts';
import type { Tree } from './tree.ts';

const AGAIN_MS = 500;

/**
 * Makes a change that belongs to no session, exactly once, as soon as the simulated ensemble can commit it.
 * Tries again when members crash or the leader changes.
 */
export function certainly(
  ensemble: Ensemble,
  fate: Machine,
  work: { readonly step: (tree: Tree) => Step | undefined; readonly done: (path: string) => void },
): void {
  let isDone = false;
  let requested: Leading | undefined;
  const attempt = (): void => {
    if (isDone) return;
    const { leading } = ensemble;
    // A leader that is replaced drops what it could not commit, so the change is requested again from the new
    // leader.
    if (leading && leading !== requested && ensemble.hasQuorum(leading)) {
      requested = leading;
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
