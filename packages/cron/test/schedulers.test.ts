import { isQueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import { CronJob } from 'cron';
import { Cron } from 'croner';
import nodeCron from 'node-cron';
import nodeSchedule from 'node-schedule';
import { mock } from 'node:test';
import { fromCron, fromCroner, fromNodeCron, fromNodeSchedule, type TickJob } from '../src/index.ts';

const NOON = Date.UTC(2026, 10, 27, 12);

/** A tick job without work. It records the ticks for which a scheduler calls its method `handle`. */
class Recorder implements TickJob {
  readonly name = 'recorder';
  readonly ticks: string[] = [];

  run(): never {
    throw new Error('a scheduler calls handle');
  }

  handle(tick: Date): Promise<void> {
    this.ticks.push(tick.toISOString());
    return Promise.resolve();
  }
}

const SCHEDULERS: Readonly<Record<string, (pattern: string, job: TickJob) => () => unknown>> = {
  croner(pattern, job) {
    const scheduled = new Cron(pattern, { timezone: 'UTC' }, fromCroner(job));
    return () => scheduled.stop();
  },
  cron(pattern, job) {
    const onTick = fromCron(job);
    const scheduled = CronJob.from({ cronTime: pattern, timeZone: 'UTC', onTick, start: true });
    return () => scheduled.stop();
  },
  'node-cron'(pattern, job) {
    const options = { timezone: 'UTC', missedExecutionTolerance: 5_000 };
    const task = nodeCron.schedule(pattern, fromNodeCron(job), options);
    return () => task.destroy();
  },
  'node-schedule'(pattern, job) {
    const scheduled = nodeSchedule.scheduleJob({ rule: pattern, tz: 'UTC' }, fromNodeSchedule(job));
    return () => scheduled.cancel();
  },
};

async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return isQueueLockError(error) ? error.message : String(error);
}

describe('the tick that a scheduler wrapper passes to its job', () => {
  afterEach(() => mock.timers.reset());

  for (const [library, schedule] of Object.entries(SCHEDULERS)) {
    it(`is the scheduled time when ${library} fires late`, async () => {
      mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: NOON - 1_500 });
      const job = new Recorder();
      const stop = schedule('0 * * * * *', job);
      // Simulates a blocked event loop: the tick is at 12:00:00, and the timers fire at 12:00:02.345.
      mock.timers.tick(3_845);
      for (let i = 0; i < 10; i += 1) await Promise.resolve();
      await stop();
      expect(job.ticks).to.deep.equal(['2026-11-27T12:00:00.000Z']);
    });
  }

  it('is the scheduled time even if the UTC offset is not a whole number of hours', async () => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: NOON });
    for (const [utcOffset, tick] of [
      [330, '2026-11-27T09:30:00.000Z'],
      [-210, '2026-11-26T18:30:00.000Z'],
      [0, '2026-11-26T15:00:00.000Z'],
    ] as const) {
      const job = new Recorder();
      const scheduled = CronJob.from({
        cronTime: '0 0 15 * * *',
        utcOffset,
        onTick: fromCron(job),
        runOnInit: true,
      });
      await scheduled.fireOnTick();
      expect(job.ticks[0]).to.equal(tick);
    }
  });

  it('cannot be determined if the times of the schedule differ between processes', async () => {
    const job = new Recorder();
    const paced = new Cron('* * * * * *', { paused: true, interval: 60 });
    expect(await codeOf(fromCroner(job)(paced))).to.match(/INVALID_ARGUMENT.*interval/);
    expect(await codeOf(fromCroner(job)(new Cron('* * * * * *', { paused: true })))).to.match(/has fired/);
    expect(await codeOf(fromCron(job).call({ another: 'context' }))).to.match(/omit its context/);
    const once = new CronJob(new Date(Date.now() + 60_000), () => undefined);
    expect(await codeOf(fromCron(job).call(once))).to.match(/not one date/);
    expect(job.ticks).to.deep.equal([]);
  });
});
