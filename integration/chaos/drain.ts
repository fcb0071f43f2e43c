import { setTimeout as pause } from 'node:timers/promises';
import type { LiveFacts } from './live.ts';
import type { Trial } from './trial.ts';

const WITHIN_MS = 60_000;
const READ_INTERVAL_MS = 300;

/**
 * Resumes frozen workers, ends the load, and waits up to 60 s until no claim is in progress, as the histories
 * show. Claims that are still in progress then are waiters that were never granted, which the checker reports.
 */
export async function drain(trial: Trial, live: LiveFacts): Promise<void> {
  await Promise.all(trial.workers.map((worker) => worker.thaw()));
  trial.calm();
  const deadline = performance.now() + WITHIN_MS;
  let idle = 0;
  // Requires two reads in a row without a claim in progress. A single read may find a worker between two
  // claims that has not yet received the command to start no further claims.
  while (idle < 2 && performance.now() < deadline) {
    await pause(READ_INTERVAL_MS);
    live.readState();
    const running = trial.workers.filter((worker) => worker.running).map(({ id }) => id);
    idle = live.isBusy(running) ? 0 : idle + 1;
  }
}
