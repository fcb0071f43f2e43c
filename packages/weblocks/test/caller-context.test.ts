import { AsyncLocalStorage } from 'node:async_hooks';
import { memory } from '@queuelock/memory';
import { createLockManager } from '@queuelock/weblocks';
import { expect } from 'chai';

/** A value in the asynchronous context of the caller, as web servers keep one for each HTTP request. */
const caller = new AsyncLocalStorage<string>();
const CALLERS = ['Ann', 'Ben', 'Cid'] as const;

describe('a callback of a lock manager', () => {
  it('runs, like its abort listeners, in the asynchronous context of the request', async () => {
    await using locks = createLockManager(memory());
    const seen: string[] = [];
    const note = (what: string, owner: string): void =>
      void seen.push(`${what} of ${owner} as ${String(caller.getStore())}`);
    for (const mode of ['shared', 'exclusive'] as const) {
      let free!: () => void;
      const held = new Promise<void>((resolve) => (free = resolve));
      const first = caller.run('Dan', () => locks.request('x', () => held));
      const waiting = CALLERS.map((owner) =>
        caller.run(owner, () => locks.request('x', { mode }, () => note('callback', owner))),
      );
      await locks.query();
      caller.run('Eve', () => free());
      await Promise.all([first, ...waiting]);
    }
    const robbed = CALLERS.map((owner) =>
      caller.run(owner, () =>
        locks.request('y', { mode: 'shared' }, (lock) => {
          note('callback', owner);
          return new Promise<void>((resolve) =>
            lock?.signal.addEventListener('abort', () => {
              note('signal', owner);
              resolve();
            }),
          );
        }),
      ),
    );
    await locks.query();
    await Promise.all([
      caller.run('Eve', () => locks.request('y', { steal: true }, () => undefined)),
      ...robbed.map((request) => request.catch(() => undefined)),
    ]);
    expect(seen.filter((call) => !/of (\w+) as \1$/.test(call))).to.deep.equal([]);
    for (const what of ['callback', 'signal'])
      for (const owner of CALLERS) expect(seen).to.include(`${what} of ${owner} as ${owner}`);
  });
});
