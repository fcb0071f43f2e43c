import { isQueueLockError, type LockClient } from '@queuelock/core';
import { expect } from 'chai';
import { of } from 'rxjs';
import {
  acquireOrYield,
  barrier,
  cohort,
  curatorSemaphore,
  doubleBarrier,
  election,
  latch,
  oncePer,
  semaphore,
  underLock,
  watchDeadlocks,
} from '../src/index.ts';
import { MemoryStage } from './election-stage.ts';

/** Passes options without type checks, as plain JavaScript can. */
const untyped = (options: unknown): never => options as never;

async function refusalOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (isQueueLockError(error, 'INVALID_ARGUMENT')) return error.message.replace('[INVALID_ARGUMENT] ', '');
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('the recipes', () => {
  let stage: MemoryStage;
  let client: LockClient;
  beforeEach(() => {
    stage = new MemoryStage();
    client = stage.client();
  });
  afterEach(() => stage.close());

  const nothing = (): undefined => undefined;
  type Call = (given: never) => unknown;
  /**
   * One test case for each function of a recipe: its name, a call with options, a misspelt option, and the
   * correct name that the error must suggest.
   */
  const calls: readonly (readonly [call: string, with_: Call, near: string, meant: string])[] = [
    ['semaphore', (o) => semaphore(client, 'x', o), 'limits', 'limit'],
    ['semaphore.acquire', (o) => semaphore(client, 'x', { limit: 2 }).acquire(o), 'permit', 'permits'],
    ['semaphore.tryAcquire', (o) => semaphore(client, 'x', { limit: 2 }).tryAcquire(o), 'permit', 'permits'],
    ['semaphore.run', (o) => semaphore(client, 'x', { limit: 2 }).run(nothing, o), 'timeout', 'timeoutMs'],
    ['semaphore.claim', (o) => semaphore(client, 'x', { limit: 2 }).claim(o), 'timeout', 'timeoutMs'],
    ['curatorSemaphore', (o) => curatorSemaphore(client, 'x', o), 'leases', 'maxLeases'],
    [
      'curatorSemaphore.acquire',
      (o) => curatorSemaphore(client, 'x', { maxLeases: 2 }).acquire(o),
      'timeout',
      'timeoutMs',
    ],
    [
      'curatorSemaphore.tryAcquire',
      (o) => curatorSemaphore(client, 'x', { maxLeases: 2 }).tryAcquire(o),
      'minRemaining',
      'minRemainingMs',
    ],
    [
      'curatorSemaphore.run',
      (o) => curatorSemaphore(client, 'x', { maxLeases: 2 }).run(nothing, o),
      'timeout',
      'timeoutMs',
    ],
    ['barrier.close', (o) => barrier(client, 'x').close(o), 'timeout', 'timeoutMs'],
    ['barrier.pass', (o) => barrier(client, 'x').pass(o), 'timeout', 'timeoutMs'],
    ['doubleBarrier', (o) => doubleBarrier(client, 'x', o), 'member', 'members'],
    [
      'doubleBarrier.enter',
      (o) => doubleBarrier(client, 'x', { members: 2 }).enter(o),
      'timeout',
      'timeoutMs',
    ],
    ['latch.wait', (o) => latch(client, 'x').wait(o), 'timeout', 'timeoutMs'],
    ['cohort', (o) => cohort(client, 'x', o), 'handoff', 'handOffs'],
    ['cohort.acquire', (o) => cohort(client, 'x').acquire(o), 'timeout', 'timeoutMs'],
    ['cohort.run', (o) => cohort(client, 'x').run(nothing, o), 'timeout', 'timeoutMs'],
    ['election', (o) => election(client, 'x', o), 'values', 'value'],
    ['election.campaign', (o) => election(client, 'x', { value: 'a' }).campaign(o), 'timeout', 'timeoutMs'],
    [
      'election.lead',
      (o) => election(client, 'x', { value: 'a' }).lead(nothing, o),
      'minRemaining',
      'minRemainingMs',
    ],
    ['oncePer', (o) => oncePer(client, 'x', o), 'guarantees', 'guarantee'],
    ['oncePer.run', (o) => oncePer(client, 'x').run(1, nothing, o), 'timeout', 'timeoutMs'],
    ['watchDeadlocks', (o) => watchDeadlocks([], o), 'confirm', 'confirmMs'],
    ['acquireOrYield', (o) => acquireOrYield(client, 'x', o), 'deadlocks', 'deadlocks$'],
    ['underLock', (o) => underLock(client, 'x', o), 'timeout', 'timeoutMs'],
  ];
  for (const [call, with_, near, meant] of calls)
    it(`reject an unknown option by its name, and options that are not an object: ${call}`, async () => {
      expect(await refusalOf(() => with_(untyped({ [near]: 1 })))).to.include(
        `: ${near} is unknown, did you mean ${meant}?`,
      );
      for (const given of [null, 5, 'x'])
        expect(await refusalOf(() => with_(untyped(given)))).to.match(
          /must be an object; got (null|5|a string)$/,
        );
    });

  it('reject an option of a wrong type', async () => {
    const permits = semaphore(client, 'x', { limit: 2 });
    expect(await refusalOf(() => semaphore(client, 'x', untyped({ limit: 2, resizable: 1 })))).to.equal(
      'resizable is a boolean; got 1',
    );
    expect(await refusalOf(() => permits.acquire(untyped({ permits: '2' })))).to.equal(
      'permits is a number; got "2"',
    );
    expect(await refusalOf(() => cohort(client, 'x', untyped({ metadata: null })))).to.equal(
      'metadata must be an object; got null',
    );
    expect(await refusalOf(() => acquireOrYield(client, 'x', untyped({})))).to.include('deadlocks$');
    expect(await refusalOf(() => barrier(client, 'x').close(untyped({ signal: null })))).to.include(
      'signal is an AbortSignal; got null',
    );
  });

  it('reject an option of locks that the recipe itself sets, such as limit or mode', async () => {
    const permits = semaphore(client, 'x', { limit: 2 });
    expect(await refusalOf(() => permits.acquire(untyped({ limit: 3 })))).to.include('limit is unknown');
    expect(await refusalOf(() => permits.run(nothing, untyped({ mode: 'shared' })))).to.include('mode is');
    expect(await refusalOf(() => permits.claim(untyped({ reentrant: true })))).to.include('reentrant is');
    expect(await refusalOf(() => permits.tryAcquire(untyped({ timeoutMs: 5 })))).to.include('timeoutMs is');
    const hold = await acquireOrYield(client, 'x', { deadlocks$: of([]), timeoutMs: 0 });
    await hold.release();
  });
});
