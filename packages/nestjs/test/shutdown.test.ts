import { Controller, Get, Inject, Module, type INestApplication } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import type { LockClient } from '@queuelock/core';
import { expect } from 'chai';
import {
  Lock,
  QueuelockHealthIndicator,
  QueuelockModule,
  currentLock,
  getLockClientToken,
  queuelockExceptionFilter,
} from '../src/index.ts';
import { useMemoryLocks } from '../src/testing.ts';
import { Applications, testingModule } from './application.ts';

const events: string[] = [];
let begun: () => void = () => undefined;
let end: () => void = () => undefined;

@Controller()
class Work {
  @Inject(HealthCheckService) readonly health!: HealthCheckService;
  @Inject(QueuelockHealthIndicator) readonly locks!: QueuelockHealthIndicator;

  @Get('work')
  @Lock('work')
  async work(): Promise<string> {
    const { stop } = currentLock()!;
    const ended = new Promise<void>((resolve) => (end = resolve));
    begun();
    await ended;
    events.push(`work ends, stop ${stop.aborted}`);
    return 'done';
  }

  @Get('readyz')
  @HealthCheck()
  ready(): Promise<unknown> {
    return this.health.check([() => this.locks.readiness('locks')]);
  }
}

@Module({
  imports: [
    TerminusModule,
    QueuelockModule.forRoot({
      backend: () => expect.fail('tests have memory'),
      shutdown: { undisturbedMs: 1, drainMs: 20_000 },
    }),
  ],
  controllers: [Work],
  providers: [queuelockExceptionFilter({ outOfOrderStatus: 502 })],
})
class App {}

describe('the shutdown of an application with locks', () => {
  let apps: Applications;
  let app: INestApplication;
  let url: string;

  beforeEach(async () => {
    events.splice(0);
    apps = new Applications();
    const builder = testingModule({ imports: [App] });
    ({ app, url } = await apps.start(useMemoryLocks(builder, { server: apps.server })));
  });

  afterEach(() => apps.close());

  it('waits for a request in progress and its response, and then closes the client', async () => {
    const working = new Promise<void>((resolve) => (begun = resolve));
    const response = fetch(`${url}/work`, { headers: { connection: 'close' } });
    await working;
    const closed = app.close().then(() => events.push('closed'));
    const locks = app.get<LockClient>(getLockClientToken());
    // Waits until the client refuses new locks. Then the time in which requests continue undisturbed is over,
    // and the client closes.
    const isOpen = async (): Promise<boolean> => {
      await new Promise((resolve) => setImmediate(resolve));
      const hold = await locks.tryAcquire('other').catch(() => undefined);
      await hold?.release();
      return hold !== undefined;
    };
    while (await isOpen());
    end();
    expect(await (await response).text()).to.equal('done');
    await closed;
    expect(events).to.deep.equal(['work ends, stop true', 'closed']);
    expect(apps.server.entryCount).to.equal(0);
  });

  it('responds with the status of the option outOfOrderStatus to requests that wait for a lock', async () => {
    const hold = await apps.other.acquire('work');
    const response = fetch(`${url}/work`);
    const queued = apps.other.watch('work');
    await new Promise<void>((resolve) => {
      const watch = queued.subscribe(({ entries }) => {
        if (entries.length === 2) resolve();
      });
      void response.finally(() => watch.unsubscribe());
    });
    const closed = app.close();
    const { status, headers } = await response;
    expect(headers.get('connection')).to.equal('close');
    expect([status, await (await response).json()]).to.deep.equal([
      502,
      { statusCode: 502, code: 'CLOSED', message: 'The lock is not available. Try again later.' },
    ]);
    await closed;
    await hold.release();
  });

  it('reports ready to Terminus before the shutdown, and not ready during it', async () => {
    const ready = await fetch(`${url}/readyz`);
    const { status, info } = (await ready.json()) as { status: string; info: object };
    expect([ready.status, status, info]).to.deep.equal([
      200,
      'ok',
      { locks: { status: 'up', session: 'idle', problems: [] } },
    ]);
    const working = new Promise<void>((resolve) => (begun = resolve));
    const response = fetch(`${url}/work`, { headers: { connection: 'close' } });
    await working;
    const health = app.get(QueuelockHealthIndicator);
    const closed = app.close();
    while (health.readiness('locks').locks.status === 'up')
      await new Promise((resolve) => setImmediate(resolve));
    expect(health.readiness('locks').locks.problems).to.deep.include({
      check: 'draining',
      text: 'the process is ending',
    });
    end();
    await Promise.all([response, closed]);
  });
});
