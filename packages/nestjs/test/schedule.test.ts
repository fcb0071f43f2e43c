import { Injectable } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { createLockClient, type Ownership } from '@queuelock/core';
import { createMemoryServer, memory } from '@queuelock/memory';
import { oncePer, type SlotOutcome } from '@queuelock/recipes';
import { expect } from 'chai';
import { OncePer } from '../src/schedule.ts';
import { memoryLocks } from '../src/testing.ts';
import { testingModule } from './application.ts';

interface Run {
  readonly job: 'yearly' | 'often';
  readonly tick: Date;
  readonly token: bigint;
}

const outcomes: SlotOutcome<unknown>[] = [];

@Injectable()
class Reports {
  readonly runs: Run[] = [];
  work: (stop: AbortSignal) => Promise<void> = async () => undefined;

  @OncePer('yearly', {
    lateSlots: 1,
    onOutcome: (outcome) => void outcomes.push(outcome),
  })
  @Cron('0 0 1 1 *', { timeZone: 'Europe/Berlin' })
  async yearly(tick: Date, { token }: Ownership, stop: AbortSignal): Promise<void> {
    this.runs.push({ job: 'yearly', tick, token });
    await this.work(stop);
  }

  // On the method `often`, `@Cron` is above `@OncePer`. On the method `yearly` it is below.
  @Cron('* * * * * *', { name: 'often' })
  @OncePer('often')
  async often(tick: Date): Promise<void> {
    this.runs.push({ job: 'often', tick, token: 0n });
    await this.work(new AbortController().signal);
  }

  @OncePer('no cron')
  async noCron(): Promise<void> {}

  @OncePer('interval')
  @Interval(1_000_000)
  async interval(): Promise<void> {}
}

describe('@OncePer on a method with @Cron', () => {
  const start = async (
    server = createMemoryServer(),
  ): Promise<{
    readonly reports: Reports;
    readonly close: () => Promise<void>;
    readonly jobs: SchedulerRegistry;
  }> => {
    const app = await testingModule({
      imports: [ScheduleModule.forRoot(), memoryLocks({ server })],
      providers: [Reports],
    }).compile();
    await app.init();
    return { reports: app.get(Reports), jobs: app.get(SchedulerRegistry), close: () => app.close() };
  };
  const call = (reports: Reports, method: 'yearly' | 'often' | 'noCron' | 'interval'): Promise<void> =>
    (reports[method] as unknown as () => Promise<void>).call(reports);

  beforeEach(() => void outcomes.splice(0));

  it('runs a tick in only one of two applications, and passes it the scheduled time', async () => {
    const server = createMemoryServer();
    const [one, two] = [await start(server), await start(server)];
    await call(one.reports, 'yearly');
    await call(two.reports, 'yearly');
    // Returns the runs of the method `yearly`. The method `often` runs during this test too.
    const yearly = ({ reports }: typeof one): readonly Run[] =>
      reports.runs.filter(({ job }) => job === 'yearly');
    const [run] = yearly(one);
    const year = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', year: 'numeric' }).format(
      new Date(),
    );
    expect(run!.tick.toISOString()).to.equal(`${Number(year) - 1}-12-31T23:00:00.000Z`);
    expect(typeof run!.token).to.equal('bigint');
    expect(yearly(two)).to.deep.equal([]);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(['ran', 'already-done']);
    await Promise.all([one.close(), two.close()]);
  });

  it('works in either order of the two decorators', async () => {
    const { reports, close, jobs } = await start();
    await new Promise<void>((resolve) => {
      reports.work = async () => resolve();
    });
    const [{ tick }] = reports.runs as [Run];
    expect(tick.getMilliseconds()).to.equal(0);
    expect(jobs.getCronJob('often').cronTime.source).to.equal('* * * * * *');
    await close();
  });

  it('runs a late tick if lateSlots allows it', async () => {
    const server = createMemoryServer();
    const { reports, close } = await start(server);
    const other = createLockClient(memory({ server }));
    await oncePer(other, 'yearly', { lateSlots: 1 }).run(new Date(), () => undefined);
    await call(reports, 'yearly');
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(['ran']);
    await Promise.all([close(), other.close()]);
  });

  it('aborts the work of a tick at the shutdown, and waits until the work has ended', async () => {
    const { reports, close } = await start();
    let isEnded = false;
    const begun = new Promise<AbortSignal>((resolve) => {
      reports.work = async (stop) => {
        resolve(stop);
        await new Promise((aborted) => stop.addEventListener('abort', aborted));
        isEnded = true;
      };
    });
    const running = call(reports, 'yearly');
    await begun;
    await close();
    expect(isEnded).to.equal(true);
    await running;
  });

  it('runs a tick that fires before its cron job is registered', async () => {
    const { reports, close, jobs } = await start();
    const [key, job] = [...jobs.getCronJobs()].find(([name]) => name !== 'often')!;
    jobs.deleteCronJob(key);
    const running = call(reports, 'yearly');
    jobs.addCronJob(key, job);
    await running;
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(['ran']);
    jobs.deleteCronJob(key);
    const error = await call(reports, 'yearly').then(() => 'resolved', String);
    expect(error).to.match(/INVALID_ARGUMENT.*Reports.yearly has no job/);
    await close();
    expect(await call(reports, 'yearly').then(() => 'resolved', String), 'after the end').to.equal(
      'resolved',
    );
  });

  it('rejects a call of a method without @Cron with an error that names the method', async () => {
    const { reports, close } = await start();
    for (const method of ['noCron', 'interval'] as const) {
      const error = await call(reports, method).then(() => 'resolved', String);
      expect(error).to.match(new RegExp(`INVALID_ARGUMENT.*Reports.${method} is used beside @Cron`));
    }
    await close();
  });
});
