// An application that uses the standard `navigator.locks`. It runs unchanged on any implementation.
import type { LockManager } from '@queuelock/weblocks';

/** Runs the application, and returns its events in order. */
export async function app(locks: Pick<LockManager, 'request' | 'query'>): Promise<string[]> {
  const log: string[] = [];

  // Three jobs run one at a time, in the order of their requests.
  const jobs = [1, 2, 3].map((n) => locks.request('jobs', async () => log.push(`job ${n}`)));
  await Promise.all(jobs);

  await locks.request('book', { mode: 'shared' }, async () => {
    // A second reader is granted while the first one holds, but a writer is not.
    await locks.request('book', { mode: 'shared' }, () => log.push('two readers'));
    await locks.request('book', { ifAvailable: true }, (lock) => log.push(lock ? 'a writer' : 'no writer'));

    const waitLimit = new AbortController();
    const writer = locks.request('book', { signal: waitLimit.signal }, () => log.push('a writer'));
    const { held, pending } = await locks.query();
    log.push(`${held.length} held, ${pending.length} pending`);
    waitLimit.abort('enough');
    await writer.catch((reason: unknown) => log.push(`the writer gave up: ${String(reason)}`));
  });

  // A request with `steal` takes the lock from a holder that does not end.
  const stuck = locks.request('jobs', () => new Promise(() => undefined));
  const robbed = stuck.catch((error: unknown) => log.push(`the stuck one: ${(error as DOMException).name}`));
  await locks.request('jobs', { steal: true }, () => log.push('the thief'));
  await robbed;
  return log;
}
