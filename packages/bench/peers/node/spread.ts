// The scenario `drain` with its waiters in several processes, so that they share neither watches nor code
// that is already compiled.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { percentile } from '../../src/stats.ts';
import type { OwnLock } from './ours.ts';
import { cpuUs, nowUs, sayAndWait, type Parameters } from './protocol.ts';

const PROCESSES = 4;

/**
 * The moments at which one waiter was granted and released, by the clock that all processes of the machine
 * share.
 */
interface Passage {
  readonly grantedAt: number;
  readonly releasedAt: number;
}

interface PartResult {
  readonly passages: readonly Passage[];
  readonly cpu: number;
}

/**
 * Starts the processes of the waiters, and measures the hand-offs between them. `client` is the name of the
 * measured lock library, which is an argument of these processes.
 */
export async function spread(lock: OwnLock, client: string, parameters: Parameters): Promise<object> {
  const n = parameters.number('n');
  const name = parameters.text('name');
  const holder = await lock.open();
  const release = await holder.acquire(name);
  const words = [client, 'spread-part', `n=${n / PROCESSES}`, `name=${name}`];
  const parts = Array.from({ length: PROCESSES }, () =>
    // Ignores the standard output of the child processes, since only this process prints the result.
    fork(process.argv[1] ?? '', words, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
  );
  await Promise.all(parts.map((part) => once(part, 'message')));
  await sayAndWait({ connected: true });
  const enqueueAt = nowUs();
  for (const part of parts) part.send('enqueue');
  await lock.untilWatching(n);
  const enqueueMs = (nowUs() - enqueueAt) / 1_000;
  await sayAndWait({ ready: true });
  const results = parts.map((part) => once(part, 'message'));
  for (const part of parts) part.send('count');
  const releasedAt = nowUs();
  await release();
  const shares = (await Promise.all(results)).map(([share]) => share as PartResult);
  await sayAndWait({ ready: true, drained: true });
  for (const part of parts) part.send('end');
  await holder.close();
  return { ...summaryOf({ grantedAt: 0, releasedAt }, shares), enqueueMs };
}

/** Runs in one of the processes: enqueues `n` waiters, and reports their times. */
export async function spreadPart(lock: OwnLock, parameters: Parameters): Promise<object> {
  const n = parameters.number('n');
  const contender = await lock.open();
  const passages: Passage[] = [];
  await received('ready');
  const waits = Array.from({ length: n }, async () => {
    const release = await contender.acquire(parameters.text('name'));
    const grantedAt = nowUs();
    passages.push({ grantedAt, releasedAt: nowUs() });
    await release();
  });
  await once(process, 'message');
  const cpu = cpuUs();
  await Promise.all(waits);
  const share: PartResult = { passages, cpu: cpuUs() - cpu };
  const end = once(process, 'message');
  process.send?.(share);
  await end;
  await contender.close();
  return {};
}

async function received(word: string): Promise<void> {
  const response = once(process, 'message');
  process.send?.(word);
  await response;
}

function summaryOf(first: Passage, shares: readonly PartResult[]): object {
  const all = shares.flatMap(({ passages }) => passages).toSorted((a, b) => a.grantedAt - b.grantedAt);
  const times = all.map(({ grantedAt }, i) => grantedAt - (all[i - 1] ?? first).releasedAt);
  const cpu = shares.reduce((sum, share) => sum + share.cpu, 0);
  return {
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    totalMs: ((all.at(-1)?.grantedAt ?? NaN) - first.releasedAt) / 1_000,
    clientCpu: cpu / all.length,
  };
}
