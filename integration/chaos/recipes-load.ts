import type { Experiment } from './experiment.ts';
import type { LoadCommand } from './worker-load.ts';

/**
 * Number of lock names that all claims except semaphores choose from. They are few, so that claims of
 * different kinds meet in one queue, and locks of two names overlap with others.
 */
const NAMES = 4;
/**
 * Number of names that only semaphores use. Queuelock rejects claims with different numbers of permits on one
 * name, and a lock counts as one permit.
 */
const SEMAPHORES = 2;
const PERMITS = 3;
const GIVEN_UP = { cancelShare: 0.05, abortShare: 0.02 } as const;

/** Load of workers that claim locks of all kinds. */
export interface RecipesLoad {
  readonly queues: readonly string[];
  /**
   * The commands that make a worker claim locks repeatedly: one for each kind of lock. A worker executes all
   * of them at the same time.
   */
  readonly loads: readonly LoadCommand[];
}

/**
 * Returns a load with claims of all kinds: read and write locks, write locks that become read locks,
 * semaphores, locks of several names, and leadership.
 */
export function recipesLoad(
  experiment: Experiment,
  { name = 'crowd', holdMs }: { readonly name?: string; readonly holdMs: LoadCommand['holdMs'] },
): RecipesLoad {
  const named = (kind: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => experiment.queue(`${name}-${kind}-${index + 1}`));
  const queues = named('shared', NAMES);
  const semaphores = named('semaphore', SEMAPHORES);
  const common = { do: 'load', queues, holdMs, ...GIVEN_UP } as const;
  return {
    queues: [...queues, ...semaphores],
    loads: [
      common,
      { ...common, terms: { shared: true }, parallel: 2 },
      { ...common, downgradeShare: 1 },
      { ...common, names: 2 },
      { ...common, names: 2, terms: { shared: true } },
      { ...common, terms: { leader: true } },
      { ...common, queues: semaphores, terms: { limit: PERMITS, permits: PERMITS }, parallel: 2 },
    ],
  };
}
