import { memory } from '@queuelock/memory';
import { createLockManager, type LockManager } from '@queuelock/weblocks';
import { expect } from 'chai';
import { app } from './app.ts';

const DONE = [
  'job 1',
  'job 2',
  'job 3',
  'two readers',
  'no writer',
  '1 held, 1 pending',
  'the writer gave up: enough',
];
const THEFT = ['the stuck one: AbortError', 'the thief'];

function expectDone(log: readonly string[]): void {
  expect(log.slice(0, DONE.length)).to.deep.equal(DONE);
  // The former holder and the request with `steal` may be notified in either order, so these events are
  // sorted.
  expect([...log.slice(DONE.length)].sort()).to.deep.equal([...THEFT].sort());
}

describe('an application that uses navigator.locks', () => {
  it('runs unchanged on the locks of this package', async () => {
    await using locks = createLockManager(memory());
    expectDone(await app(locks));
  });

  it('runs unchanged on the locks of Node itself', async function () {
    const own = (globalThis as { readonly navigator?: { readonly locks?: LockManager } }).navigator?.locks;
    if (!own) {
      this['skipReason'] = 'needs navigator.locks, of Node 24.5 and later';
      this.skip();
    }
    expectDone(await app(own));
  });
});
