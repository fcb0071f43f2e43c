import { memory } from '@queuelock/memory';
import { expect } from 'chai';
import { createLockClient, type LockClient } from '../src/index.ts';
import { callsBy, madeBy, type Made } from './created-objects.ts';

const CYCLES = 100;
/** Number of subscriptions of a waiting acquisition: one to the turns of its entry, and one inside the memory server. */
const STREAMS = 2;
/** Maximum number of function calls of an acquisition. Node 20 needs 231. A subscription takes about 40. */
const MAX_CALLS = 260;
const LEAST = { abortControllers: 0, timers: 0, errors: 0, subscriptions: STREAMS };

// The tests count created objects and calls, because time measurements are unreliable on a busy machine.
describe('the cost of an acquisition', () => {
  let client: LockClient;

  beforeEach(async () => {
    client = createLockClient(memory());
    await client.run('x', () => undefined);
  });

  afterEach(() => client.close());

  async function perCycle(cycle: () => Promise<unknown>): Promise<Made> {
    const all = await madeBy(async () => {
      for (let i = 0; i < CYCLES; i += 1) await cycle();
    });
    const { abortControllers, timers, errors, subscriptions } = all;
    return {
      abortControllers: abortControllers / CYCLES,
      timers: timers / CYCLES,
      errors: errors / CYCLES,
      subscriptions: subscriptions / CYCLES,
    };
  }

  it('includes no abort controller, timer or error if the caller uses neither `signal` nor a timeout', async () => {
    expect(await perCycle(async () => (await client.acquire('x')).release())).to.deep.equal(LEAST);
  });

  it('includes only a few hundred function calls for an acquisition and its release', async () => {
    const cycle = async (): Promise<void> => {
      for (let i = 0; i < CYCLES; i += 1) await (await client.acquire('x')).release();
    };
    await cycle();
    expect((await callsBy(cycle)) / CYCLES).to.be.within(100, MAX_CALLS);
  });

  it('includes two signals for a run: the stop signal and the signal of the hold', async () => {
    const made = await perCycle(() => client.run('x', ({ signal }, stop) => signal.aborted || stop.aborted));
    expect(made).to.deep.equal({ ...LEAST, abortControllers: 2 });
  });

  it('is not higher for an acquisition that waits than for one that does not', async () => {
    const made = await perCycle(async () => {
      const holder = await client.acquire('x');
      const waiter = client.acquire('x');
      await holder.release();
      await (await waiter).release();
    });
    expect(made).to.deep.equal({ ...LEAST, subscriptions: 2 * STREAMS });
  });

  it('includes a signal only if it is read, and a timer only for a timeout', async () => {
    const reading = await perCycle(async () => {
      const ownership = await client.acquire('x');
      if (!ownership.signal.aborted) await ownership.release();
    });
    expect(reading).to.deep.equal({ ...LEAST, abortControllers: 1 });
    const { timers } = await perCycle(() => client.run('x', () => undefined, { timeoutMs: 60_000 }));
    expect(timers).to.equal(1);
    await client.run('x', async () => {
      const { errors } = await perCycle(() => client.tryAcquire('x'));
      expect(errors).to.equal(1);
    });
  });

  it('includes six signals for a run of a multi-lock of two names: one per name and four others', async () => {
    const { abortControllers, timers, errors } = await perCycle(() =>
      client.multi(['x', 'y']).run(() => undefined),
    );
    expect({ abortControllers, timers, errors }).to.deep.equal({
      abortControllers: 6,
      timers: 0,
      errors: 0,
    });
  });
});
