import { createLockClient, isQueueLockError, type LockClient } from '@queuelock/core';
import { createMemoryServer, memory } from '@queuelock/memory';
import { expect } from 'chai';
import nodeCron from 'node-cron';
import { oncePer } from '@queuelock/recipes';
import { oncePerTick, runCoordinator, type TickJob, type TickJobOptions } from '../src/index.ts';

const TICK = new Date('2026-11-27T12:00:00Z');
const NEXT = new Date('2026-11-27T12:01:00Z');

describe('oncePerTick', () => {
  let clients: LockClient[];
  let one: LockClient;
  let other: LockClient;

  beforeEach(() => {
    const server = createMemoryServer();
    clients = ['one', 'other'].map((owner) => createLockClient(memory({ server }), { owner }));
    [one, other] = clients as [LockClient, LockClient];
  });

  afterEach(() => Promise.all(clients.map((client) => client.close())));

  it('does the work of a tick in one process, and reports its name to all other processes', async () => {
    const worked: string[] = [];
    const reports: string[] = [];
    const jobs = clients.map((client, i) =>
      oncePerTick(
        oncePer(client, 'report', { owner: `process ${i}` }),
        (tick) => worked.push(tick.toISOString()),
        {
          onOutcome: (outcome) =>
            reports.push(outcome.outcome === 'ran' ? 'ran' : `${outcome.outcome} by ${outcome.by}`),
        },
      ),
    );
    for (const tick of [TICK, NEXT]) for (const job of jobs) await job.handle(tick);
    expect(worked).to.deep.equal([TICK.toISOString(), NEXT.toISOString()]);
    expect(reports).to.deep.equal(['ran', 'already-done by process 0', 'ran', 'already-done by process 0']);
  });

  it('passes an error of the work to onError, or rejects with it when there is no onError', async () => {
    const failing = (options?: TickJobOptions<never>): TickJob<never> => {
      const once = oncePer(one, 'failing', { guarantee: 'at-least-once' });
      return oncePerTick<Promise<never>>(once, () => Promise.reject(new Error('no disk')), options);
    };
    const errors: unknown[] = [];
    await failing({ onError: (error, tick) => errors.push([(error as Error).message, tick]) }).handle(TICK);
    expect(errors).to.deep.equal([['no disk', TICK]]);
    const error = await failing()
      .handle(TICK)
      .then(() => undefined, String);
    expect(error).to.equal('Error: no disk');
  });

  it('resolves when its signal aborts, and passes an error that the work throws after the abort to onError', async () => {
    const shutdown = new AbortController();
    const hold = await other.acquire('stopped');
    const errors: unknown[] = [];
    const options = { signal: shutdown.signal, onError: (error: unknown) => errors.push(error) };
    const waiting = oncePerTick(oncePer(one, 'stopped'), () => undefined, options).handle(TICK);
    const working = oncePerTick(
      oncePer(one, 'working'),
      async (_tick, _ownership, stop) => {
        shutdown.abort();
        expect(stop.aborted).to.equal(true);
        throw new Error('half-way');
      },
      options,
    ).handle(TICK);
    await Promise.all([waiting, working]);
    await hold.release();
    expect(errors.map(String)).to.deep.equal(['Error: half-way']);
  });

  it('rejects a tick when maxWaitingTicks ticks wait in the process', async () => {
    const hold = await other.acquire('slow');
    const job = oncePerTick(oncePer(one, 'slow'), () => undefined, { maxWaitingTicks: 2 });
    const ticks = [0, 1, 2].map((i) => new Date(TICK.getTime() + i * 60_000));
    const [first, second, third] = ticks.map((tick) => job.run(tick));
    const error: unknown = await third!.catch((reason: unknown) => reason);
    expect(isQueueLockError(error, 'QUEUE_FULL'), String(error)).to.equal(true);
    await hold.release();
    expect([(await first!).outcome, (await second!).outcome]).to.deep.equal(['ran', 'ran']);
    expect((await job.run(ticks[2]!)).outcome).to.equal('ran');
  });

  it('rejects invalid arguments with an error that names the argument', async () => {
    expect(() => oncePerTick(oncePer(one, 'x'), () => 0, { maxWaitingTicks: 0 })).to.throw(
      /maxWaitingTicks.*from 1 to 10000/,
    );
    expect(() => oncePerTick(oncePer(one, 'x'), undefined as never)).to.throw(/work.*is a function/);
    expect(() => oncePerTick(undefined as never, () => 0)).to.throw(/once must be an object/);
    expect(() => oncePerTick(oncePer(one, 'x'), () => 0, { waits: 1 } as object)).to.throw(
      /waits is unknown/,
    );
    const job = oncePerTick(oncePer(one, 'x'), () => 0);
    for (const tick of [new Date(Number.NaN), undefined as never]) {
      const error: unknown = await job.run(tick).catch((reason: unknown) => reason);
      expect(String(error)).to.match(/INVALID_ARGUMENT.*tick/);
    }
    const key: unknown = await runCoordinator(one)
      .shouldRun('no time')
      .catch((reason: unknown) => reason);
    expect(String(key)).to.match(/INVALID_ARGUMENT.*key/);
  });

  it('lets a coordinator of node-cron run a late tick if lateSlots allows it, but no tick twice', async () => {
    const key = (tick: Date): string => `report:${tick.toISOString()}`;
    const strict = runCoordinator(one, { prefix: 'strict/' });
    const late = clients.map((client) => runCoordinator(client, { prefix: 'late/', lateSlots: 1 }));
    expect(await strict.shouldRun(key(NEXT))).to.equal(true);
    expect(await strict.shouldRun(key(TICK))).to.equal(false);
    expect(await late[0]!.shouldRun(key(NEXT))).to.equal(true);
    expect(await late[1]!.shouldRun(key(TICK))).to.equal(true);
    expect(await late[0]!.shouldRun(key(TICK))).to.equal(false);
  });

  it('refuses invalid options of a coordinator before the first tick', () => {
    expect(() => runCoordinator(one, { lateSlots: 16 })).to.throw('lateSlots is a whole number from 0 to 15');
    expect(() => runCoordinator(one, { maxWaitingTicks: 0 })).to.throw('maxWaitingTicks is a whole number');
  });

  it("runs each tick of node-cron's distributed tasks in one process when node-cron uses its run coordinator", async () => {
    const runs: string[] = [];
    const skipped: string[] = [];
    let enough = (): void => undefined;
    const twoSkips = new Promise<void>((resolve) => (enough = resolve));
    const tasks = clients.map((client) => {
      const options = { name: 'a:task', distributed: true, runCoordinator: runCoordinator(client) };
      const task = nodeCron.schedule('* * * * * *', ({ date }) => runs.push(date.toISOString()), options);
      task.on('execution:skipped', ({ date, reason }) => {
        skipped.push(`${date.toISOString()} ${String(reason)}`);
        if (skipped.length === 2) enough();
      });
      return task;
    });
    await twoSkips;
    for (const task of tasks) await task.destroy();
    expect(runs).to.deep.equal([...new Set(runs)]);
    // Checks only the first two skips: each must be of a tick that the other task ran. A tick that was run need
    // not be skipped: if it is due before the second task is scheduled, only one task has it.
    expect(runs.map((tick) => `${tick} not-elected`)).to.include.members(skipped.slice(0, 2));
  });
});
