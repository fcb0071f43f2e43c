import { setTimeout as pause } from 'node:timers/promises';
import type { AttemptEvent } from '@queuelock/harness/check/event';
import { livedSince } from '@queuelock/harness/lived-time';
import type { WorkerProcess } from './worker-process.ts';

const SERVE_WITHIN_MS = 30_000;
const SERVE_EVERY_MS = 10;

/**
 * Orders each worker of the list to release as soon as it holds, until no worker of the list has a claim in
 * progress. The checker reports waiters that are never granted.
 */
export async function serveWaiters(workers: readonly WorkerProcess[]): Promise<void> {
  const requested = new Set<AttemptEvent>();
  const begun = performance.now();
  for (;;) {
    const running = workers.filter((worker) => worker.running);
    const open = running.flatMap((worker) => worker.openAttempts.map((attempt) => ({ worker, attempt })));
    for (const { worker, attempt } of open) {
      if (attempt.ev !== 'acquired' || requested.has(attempt)) continue;
      requested.add(attempt);
      worker.tell({ do: 'release', queue: attempt.queue, n: attempt.n });
    }
    if (open.length === 0 || livedSince(begun) > SERVE_WITHIN_MS) return;
    await pause(SERVE_EVERY_MS);
  }
}
