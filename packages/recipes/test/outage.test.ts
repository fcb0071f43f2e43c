import { QueueLockError, createLockClient, type LockClient } from '@queuelock/core';
import { expect } from 'chai';
import { cohort, curatorSemaphore, doubleBarrier, latch, oncePer } from '../src/index.ts';
import { MemoryStage, TTL_MS, failureOf } from './election-stage.ts';
import { MemoryLine } from './memory-store.ts';

const SOON = { timeoutMs: 20 };

describe('a recipe whose wait times out during an outage', () => {
  let stage: MemoryStage;
  let line: MemoryLine;
  let client: LockClient;

  beforeEach(() => {
    stage = new MemoryStage();
    line = new MemoryLine(stage.server);
    client = createLockClient(line.connect(), { clock: stage.clock, ttlMs: TTL_MS });
  });

  afterEach(async () => {
    await line.mend();
    const closing = client.close();
    await stage.clock.advance(TTL_MS);
    await closing;
    await stage.close();
  });

  /**
   * Resolves with the error with which the promise `wait` rejects. Until then, lets time pass on the
   * simulated clock and on the real one.
   */
  const ended = async (wait: Promise<unknown>): Promise<unknown> => {
    const failure = failureOf(wait);
    const state = { isOver: false };
    void failure.then(() => (state.isOver = true));
    while (!state.isOver) {
      await stage.clock.advance(5);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return failure;
  };

  const isAnOutage = (error: unknown, ...words: string[]): void => {
    expect(error).to.include({ code: 'UNAVAILABLE' });
    for (const word of words) expect(String(error)).to.include(word);
  };

  const waits: [string, () => Promise<unknown>][] = [
    ['a latch', () => latch(client, 'x').wait(SOON)],
    ['a cohort', () => cohort(client, 'x').acquire(SOON)],
    ['a double barrier', () => doubleBarrier(client, 'x', { members: 2 }).enter(SOON)],
    ['a slot', () => oncePer(client, 'x').run(1, () => 'done', SOON)],
    ['a lease of Curator', () => curatorSemaphore(client, 'x', { maxLeases: 1 }).acquire(SOON)],
  ];
  for (const [what, wait] of waits) {
    it(`rejects with UNAVAILABLE and the cause of the outage: ${what}`, async () => {
      line.cut();
      isAnOutage(await ended(wait()), '"x', '20 ms');
    });
  }

  it('rejects with UNAVAILABLE for a latch whose count was read before the outage', async () => {
    await latch(client, 'x').trySetCount(1);
    const late = latch(client, 'x').wait(SOON);
    await stage.settle();
    line.cut();
    isAnOutage(await ended(late), 'the latch "x" did not reach 0', 'the connection is cut');
  });

  it('rejects with UNAVAILABLE when a member enters or leaves a double barrier', async () => {
    const other = doubleBarrier(stage.client(), 'y', { members: 2 }).enter();
    const place = await doubleBarrier(client, 'y', { members: 2 }).enter();
    const late = doubleBarrier(client, 'x', { members: 2 }).enter(SOON);
    await stage.settle();
    line.cut();
    const [begun, left] = await Promise.all([ended(late), ended(place.leave(SOON))]);
    isAnOutage(begun, 'no round of "x" began', 'the connection is cut');
    isAnOutage(left, 'other members of "y" did not leave');
    await line.mend();
    const otherLeft = (await other).leave();
    await stage.clock.advance(TTL_MS);
    await otherLeft;
  });

  it('rejects a call of oncePer with UNAVAILABLE while another client does the work of the slot', async () => {
    const working = oncePer(stage.client(), 'x', { guarantee: 'at-least-once' });
    let done!: () => void;
    const work = working.run(1, () => new Promise<void>((resolve) => (done = resolve)));
    await stage.settle();
    const late = oncePer(client, 'x', { guarantee: 'at-least-once' }).run(1, () => 'no', {
      timeoutMs: TTL_MS / 2,
    });
    await stage.settle();
    line.cut();
    isAnOutage(await ended(late), '"x"', 'the connection is cut');
    done();
    await work;
  });

  it('rejects with UNAVAILABLE for a cohort whose heartbeats get no reply', async () => {
    const otherClaim = await stage.client().acquire('x');
    const crew = cohort(client, 'x');
    const neverAborted = failureOf(crew.acquire());
    await stage.settle();
    line.cut();
    await stage.clock.advance(TTL_MS / 2);
    isAnOutage(await ended(crew.acquire(SOON)), '"x"', 'no heartbeat');
    await otherClaim.release();
    await crew.close();
    expect(await neverAborted).to.be.an.instanceOf(QueueLockError);
  });

  it('rejects with TIMEOUT when it waits again after the outage', async () => {
    line.cut();
    isAnOutage(await ended(latch(client, 'x').wait(SOON)));
    await line.mend();
    expect(await ended(latch(client, 'x').wait(SOON))).to.include({ code: 'TIMEOUT' });
  });
});
