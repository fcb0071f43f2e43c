import { briefLoad } from './brief-load.ts';
import type { Experiment } from './experiment.ts';
import { recipesLoad } from './recipes-load.ts';
import type { LoadCommand } from './worker-load.ts';

/** Number of workers that run at the same time. */
export const WORKERS = 10;

const BUSY_QUEUES = 32;
const BUSY_AT_A_TIME = 8;
const BRIEF_AT_A_TIME = 1;
const BUSY_MS = [0, 20] as const;
const BUSY_LONGER_MS = [0, 200] as const;
/** Fewer than half as many queues as workers, so that in each queue one worker holds and others wait. */
const STEADY_QUEUES = 4;
/**
 * Shortest and longest hold in milliseconds. The longest is longer than a session lives without heartbeats.
 */
const STEADY_MS = [0, 8_000] as const;
/**
 * Shortest and longest hold in milliseconds, in queues that all workers wait for. With longer holds each
 * worker would get few grants during a run.
 */
const RECIPES_MS = { quick: [0, 20], slow: [0, 500] } as const;
const OPERATED = { busy: 3, steady: 1 } as const;
const GIVEN_UP = { cancelShare: 0.05, abortShare: 0.02 } as const;

/** The load that all workers run at the same time. */
export interface ChaosLoad {
  readonly loads: readonly LoadCommand[];
  /** Queues in which an operator removes entries. */
  readonly operated: readonly string[];
  /** Queues that several workers may hold at the same time. */
  readonly shared: readonly string[];
}

export const OPERATED_QUEUES: number = OPERATED.busy + OPERATED.steady;
/** Longest time in milliseconds for which a worker of a chaos run holds a lock. */
export const LONGEST_HOLD_MS: number = STEADY_MS[1];

/**
 * Returns the load of a chaos run. Most holds are short, so that a run has many. But a fault can affect only
 * a hold that is in progress, so each worker also holds for longer in other queues.
 */
export function chaosLoad(
  experiment: Experiment,
  { recipes = false }: { readonly recipes?: boolean } = {},
): ChaosLoad {
  const named = (name: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => experiment.queue(`${name}-${index + 1}`));
  const busy = named('busy', BUSY_QUEUES);
  const steady = named('steady', STEADY_QUEUES);
  const kinds = recipes
    ? Object.entries(RECIPES_MS).map(([name, holdMs]) => recipesLoad(experiment, { name, holdMs }))
    : [];
  const often = { queues: busy, effectShare: 0.1, ...GIVEN_UP };
  return {
    loads: [
      briefLoad((name) => experiment.queue(name), BRIEF_AT_A_TIME),
      { do: 'load', holdMs: BUSY_MS, parallel: BUSY_AT_A_TIME, ...often },
      { do: 'load', holdMs: BUSY_LONGER_MS, ...often },
      { do: 'load', holdMs: STEADY_MS, queues: steady, ...GIVEN_UP },
      ...kinds.flatMap(({ loads }) => loads),
    ],
    operated: [...busy.slice(0, OPERATED.busy), ...steady.slice(0, OPERATED.steady)],
    shared: kinds.flatMap(({ queues }) => queues),
  };
}
