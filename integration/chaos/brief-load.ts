import type { LoadCommand } from './worker-load.ts';

const QUEUES = 64;
const HOLD_MS = [0, 50] as const;
/**
 * Longest wait in a queue in milliseconds. A worker that dies blocks the queues in which it has entries until its
 * session ends. The other workers soon leave these queues, and continue in the remaining ones.
 */
const MAX_WAIT_MS = 500;

/**
 * Returns a load of brief holds in many queues, from which most of the holds of a run come, even while faults
 * block some queues.
 * @param queue registers a queue of the run, and returns its full name
 * @param parallel number of claims that each worker makes in parallel
 */
export function briefLoad(queue: (name: string) => string, parallel: number): LoadCommand {
  return {
    do: 'load',
    queues: Array.from({ length: QUEUES }, (_, index) => queue(`brief-${index + 1}`)),
    holdMs: HOLD_MS,
    maxWaitMs: MAX_WAIT_MS,
    parallel,
    effectShare: 0.1,
    cancelShare: 0,
    abortShare: 0.02,
  };
}
