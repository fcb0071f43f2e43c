import { chanceOf } from '@queuelock/harness/chance';
import { startRedisProcess } from '@queuelock/harness/services/redis-process';
import { endScripts } from '@queuelock/harness/services/script-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { orSkip } from '@queuelock/harness/services/skip';
import { until } from '@queuelock/harness/services/until';
import { Queue } from 'bullmq';
import { expect } from 'chai';
import { setTimeout as pass } from 'node:timers/promises';
import { conflictIn, WorkerProcess, type KeyData } from './workers.ts';

const JOBS = 100;
const KEYS = 5;
const WORKERS = 4;
const KILLS = 8;

describe('BullMQ jobs with onePerKey in several processes', function () {
  this.timeout(300_000);
  let server: ProcessService | undefined;
  let queue: Queue<KeyData>;

  before(async function () {
    server = await orSkip(this, startRedisProcess({}));
  });
  after(() => server?.stop());

  beforeEach(async () => {
    const [host, port] = server!.endpoint.split(':');
    queue = new Queue<KeyData>(`jobs-${Date.now()}`, { connection: { host: host!, port: Number(port) } });
    await queue.addBulk(
      Array.from({ length: JOBS }, (_, nth) => ({ name: 'job', data: { key: `customer/${nth % KEYS}` } })),
    );
  });
  afterEach(async () => {
    await endScripts();
    await queue.close();
  });

  const untilCompleted = (count: number): Promise<void> =>
    until(
      async () => {
        const { completed = 0 } = await queue.getJobCounts('completed');
        if (completed < count) throw new Error(`${completed} are completed`);
      },
      { what: `${count} completed jobs`, withinMs: 150_000 },
    );

  for (const kills of [0, KILLS])
    it(`all complete, and no two of one key run at a time, while ${kills} workers are killed`, async () => {
      const seed = Date.now() % 100_000;
      const chance = chanceOf(seed);
      const url = `redis://${server!.endpoint}`;
      let started = 0;
      const start = (): WorkerProcess => new WorkerProcess(url, queue.name, seed + (started += 1));
      const all = Array.from({ length: WORKERS }, start);
      await Promise.all(all.map((worker) => worker.untilEvent('ready')));
      for (let nth = 0; nth < kills; nth += 1) {
        // Workers are killed after a random time, so that a kill can interrupt a job at any moment.
        await pass(400 * chance());
        const living = all.slice(-WORKERS);
        const victim = living[Math.floor(WORKERS * chance())]!;
        await victim.kill();
        all.splice(all.indexOf(victim), 1);
        all.unshift(victim);
        const next = start();
        all.push(next);
        await next.untilEvent('ready');
      }
      await untilCompleted(JOBS);
      const works = all.flatMap((worker) => worker.works);
      expect(conflictIn(works), `seed ${seed}`).to.equal(undefined);
      expect(new Set(works.map(({ job }) => job)).size).to.equal(JOBS);
      expect(await queue.getJobCounts('failed', 'active', 'waiting', 'delayed')).to.deep.equal({
        failed: 0,
        active: 0,
        waiting: 0,
        delayed: 0,
      });
      const events = all.flatMap((worker) => worker.events);
      // At least one job must have been delayed. Otherwise the jobs never competed for a key, and the test
      // proves nothing.
      expect(events.filter(({ ev }) => ev === 'delayed')).to.not.have.length(0);
      if (kills > 0)
        expect(works.filter(({ until: end }) => end === Number.POSITIVE_INFINITY)).to.deep.equal([]);
    });

  it('(control) make the checker report conflicts when jobs of one key overlap or tokens do not grow', () => {
    const work = (from: number, end: number, token: bigint) => ({
      job: '1',
      key: 'a',
      from,
      until: end,
      token,
    });
    expect(conflictIn([work(0, 2, 1n), work(1, 3, 2n)])).to.have.length(2);
    expect(conflictIn([work(0, 1, 2n), work(1, 3, 1n)])).to.have.length(2);
    expect(conflictIn([work(0, 1, 1n), work(1, 3, 2n)])).to.equal(undefined);
  });
});
