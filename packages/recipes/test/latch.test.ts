import { QueueLockError, createLockClient, type LockClient } from '@queuelock/core';
import { memory, type Intercept } from '@queuelock/memory';
import { expect } from 'chai';
import fc from 'fast-check';
import { latch, type Latch } from '../src/index.ts';
import { MemoryStage, TTL_MS, failureOf, thrownBy } from './election-stage.ts';
import { follow } from './frame.ts';
import { givenUpAtEveryPoint } from './give-up.ts';
import { MemoryLine } from './memory-store.ts';

const LOST = (): QueueLockError => new QueueLockError('UNAVAILABLE', 'the answer was lost');

describe('a latch', () => {
  let stage: MemoryStage;
  let client: LockClient;
  let exit: Latch;
  const cutOff: LockClient[] = [];

  beforeEach(() => {
    stage = new MemoryStage();
    client = stage.client();
    exit = latch(client, 'exit');
  });

  afterEach(async () => {
    for (const over of cutOff.splice(0)) await over.close();
    await stage.close();
  });

  function clientOver(line: MemoryLine): LockClient {
    const { clock } = stage;
    const over = createLockClient(line.connect(), { clock, ttlMs: TTL_MS });
    cutOff.push(over);
    return over;
  }

  const waiting = async (from: Latch, options?: Parameters<Latch['wait']>[0]): Promise<{ end: unknown }> => {
    const wait: { end: unknown } = { end: undefined };
    from.wait(options).then(
      () => (wait.end = 'open'),
      (error: unknown) => (wait.end = error),
    );
    await stage.settle();
    return wait;
  };

  it('resolves all waits when its count reaches 0, and later waits at once', async () => {
    const other = latch(stage.client(), 'exit');
    expect(await exit.trySetCount(2)).to.equal(true);
    const waits = [await waiting(exit), await waiting(other)];
    expect(await other.countDown()).to.equal(1);
    await stage.settle();
    expect(waits.map(({ end }) => end)).to.deep.equal([undefined, undefined]);
    expect(await exit.countDown()).to.equal(0);
    await stage.settle();
    expect(waits.map(({ end }) => end)).to.deep.equal(['open', 'open']);
    expect([await exit.countDown(), (await waiting(other)).end]).to.deep.equal([0, 'open']);
    expect(stage.server.watcherCount).to.equal(0);
  });

  it('sets a count only if the present count is not above 0', async () => {
    const other = latch(stage.client(), 'exit');
    expect([await exit.trySetCount(1), await other.trySetCount(5)]).to.deep.equal([true, false]);
    await exit.countDown();
    expect([await other.trySetCount(5), await exit.countDown()]).to.deep.equal([true, 4]);
  });

  it('outlives the clients that count down', async () => {
    await exit.trySetCount(2);
    await client.close();
    const other = latch(stage.client(), 'exit');
    expect(await other.countDown()).to.equal(1);
  });

  it('lets clients wait even if they arrive before the count is set', async () => {
    const early = await waiting(exit);
    expect(await exit.countDown()).to.equal(undefined);
    await exit.trySetCount(1);
    await stage.settle();
    expect(early.end).to.equal(undefined);
    await exit.countDown();
    await stage.settle();
    expect(early.end).to.equal('open');
  });

  it('resolves the wait of a client that was cut off while the count reached 0 and a new count was set', async () => {
    const line = new MemoryLine(stage.server);
    const slow = latch(clientOver(line), 'exit');
    await exit.trySetCount(1);
    const wait = await waiting(slow);
    line.cut();
    await exit.countDown();
    await exit.trySetCount(3);
    await line.mend();
    await stage.clock.advance(500);
    expect(wait.end).to.equal('open');
    expect((await waiting(exit)).end).to.equal(undefined);
  });

  it('does not resolve `wait` by a count of 0 that was read before the call', async () => {
    const states = follow(exit.count$);
    await exit.trySetCount(1);
    await exit.countDown();
    await exit.trySetCount(1);
    const wait = await waiting(exit);
    expect(wait.end).to.equal(undefined);
    await exit.countDown();
    await stage.settle();
    expect([wait.end, states.values]).to.deep.equal(['open', [undefined, 1, 0, 1, 0]]);
    states.stop();
  });

  it('resolves waits when it is removed, and leaves nothing on the server', async () => {
    await exit.trySetCount(2);
    const wait = await waiting(exit);
    await exit.remove();
    await stage.settle();
    expect([wait.end, stage.server.registerCount]).to.deep.equal(['open', 0]);
    expect(await exit.trySetCount(1)).to.equal(true);
  });

  for (const lost of ['request', 'answer'] as const) {
    it(`counts each countDown once when every second ${lost} of a register write is lost`, async () => {
      let calls = 0;
      const intercept: Intercept = async (call, proceed) => {
        const isLost = call === 'writeRegister' && ++calls % 2 === 1;
        if (isLost && lost === 'request') throw LOST();
        const response = await proceed();
        if (isLost) throw LOST();
        return response;
      };
      const unlucky = latch(createLockClient(memory({ server: stage.server, intercept })), 'exit');
      expect(await unlucky.trySetCount(3)).to.equal(true);
      expect([await unlucky.countDown(), await unlucky.countDown()]).to.deep.equal([2, 1]);
      expect(calls).to.equal(lost === 'request' ? 6 : 3);
      expect(await exit.countDown()).to.equal(0);
    });
  }

  it('does not count a countDown again in a new count when its reply was lost', async () => {
    let isLost = true;
    const intercept: Intercept = async (call, proceed) => {
      const response = await proceed();
      if (call !== 'writeRegister' || !isLost) return response;
      isLost = false;
      await exit.trySetCount(7);
      throw LOST();
    };
    await exit.trySetCount(1);
    const unlucky = latch(createLockClient(memory({ server: stage.server, intercept })), 'exit');
    expect([await unlucky.countDown(), follow(exit.count$).last]).to.deep.equal([0, 7]);
  });

  it('returns true from trySetCount even if its reply is lost and another client has counted down', async () => {
    let isLost = true;
    const intercept: Intercept = async (call, proceed) => {
      const response = await proceed();
      if (call !== 'writeRegister' || !isLost) return response;
      isLost = false;
      await exit.countDown();
      throw LOST();
    };
    const unlucky = latch(createLockClient(memory({ server: stage.server, intercept })), 'exit');
    expect([await unlucky.trySetCount(1), await exit.countDown()]).to.deep.equal([true, 0]);
  });

  it('keeps its text within the size of a register after 1,000 count-downs', async () => {
    await exit.trySetCount(1_000);
    for (let left = 999; left >= 0; left--) expect(await exit.countDown()).to.equal(left);
  });

  it('counts exactly when many clients count down while messages are lost or delayed', async () => {
    const fate = fc.constantFrom('arrives', 'answer lost', 'request lost');
    const plan = fc.record({
      counts: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
      fates: fc.array(fate, { maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ counts, fates }) => {
        const mine = new MemoryStage();
        const left = [...fates];
        const intercept: Intercept = async (call, proceed) => {
          const what = call === 'close' ? 'arrives' : (left.shift() ?? 'arrives');
          await new Promise<void>((resolve) => mine.clock.after(1, resolve));
          if (what === 'request lost') throw LOST();
          const response = await proceed();
          if (what === 'answer lost') throw LOST();
          return response;
        };
        const total = counts.reduce((sum, count) => sum + count, 1);
        await latch(mine.client(), 'x').trySetCount(total);
        const counting = Promise.all(
          counts.map(async (count) => {
            const own = latch(mine.client({ backend: { intercept } }), 'x');
            for (let n = 0; n < count; n++) await own.countDown();
          }),
        );
        let done = false;
        void counting.then(() => (done = true));
        const calm = async (): Promise<void> => {
          while (!done) {
            await mine.clock.advance(10);
            await new Promise((resolve) => setImmediate(resolve));
          }
        };
        await calm();
        const seen = follow(latch(mine.client(), 'x').count$);
        expect(seen.last).to.equal(1);
        seen.stop();
        const closing = mine.close();
        await mine.clock.advance(100);
        await closing;
      }),
      { numRuns: 12 },
    );
  });

  it('ends a wait by its signal, its timeout and the close of its client', async () => {
    await exit.trySetCount(1);
    const stop = new AbortController();
    const reason = new Error('enough');
    const stopped = await waiting(exit, { signal: stop.signal });
    stop.abort(reason);
    await stage.settle();
    expect(stopped.end).to.equal(reason);
    expect((await waiting(exit, { signal: stop.signal })).end).to.equal(reason);
    expect(await failureOf(exit.wait({ timeoutMs: 5 }))).to.include({ code: 'TIMEOUT' });
    expect(await failureOf(exit.wait({ timeoutMs: 0 }))).to.include({ code: 'TIMEOUT' });
    expect(stage.server.watcherCount).to.equal(0);
    const cut = await waiting(exit);
    const counts = follow(exit.count$);
    await client.close();
    expect(cut.end).to.include({ code: 'CLOSED' });
    expect([counts.values, counts.end]).to.deep.equal([[1], 'complete']);
    expect(await failureOf(exit.countDown())).to.include({ code: 'CLOSED' });
    expect(await failureOf(exit.wait())).to.include({ code: 'CLOSED' });
  });

  it('leaves no subscription when a call is aborted at any await', async () => {
    const before = async (at: MemoryStage): Promise<() => unknown> => {
      const open = latch(at.client(), 'exit');
      await open.trySetCount(1);
      return () => open.countDown();
    };
    const attempt = (mine: LockClient, signal: AbortSignal): Promise<void> =>
      latch(mine, 'exit').wait({ signal });
    expect(await givenUpAtEveryPoint({ before, attempt })).to.be.above(0);
  });

  it('rejects invalid arguments, and a register whose text another program has written', async () => {
    expect(await failureOf(exit.trySetCount(0))).to.include({
      message: '[INVALID_ARGUMENT] count is a whole number from 1 up; got 0',
    });
    expect(thrownBy(() => latch(client, ''))).to.include({ code: 'INVALID_ARGUMENT' });
    expect(await failureOf(exit.wait({ timeoutMs: -1 }))).to.include({ code: 'INVALID_ARGUMENT' });
    for (const foreign of ['nonsense', '{"count":1}', '3']) {
      await client.register('exit', 'latch').change(() => foreign);
      const refused = [exit.trySetCount(1), exit.countDown(), exit.wait()];
      for (const error of await Promise.all(refused.map(failureOf))) {
        expect(error).to.include({ code: 'INVALID_ARGUMENT' });
      }
      expect(follow(exit.count$).end).to.include({ code: 'INVALID_ARGUMENT' });
    }
    await exit.remove();
    expect(await exit.trySetCount(1)).to.equal(true);
  });
});
