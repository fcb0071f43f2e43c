import { Injectable, Scope, type INestApplication } from '@nestjs/common';
import { createLockClient } from '@queuelock/core';
import { createMemoryServer, memory, type MemoryServer } from '@queuelock/memory';
import type { CheckIn, Leadership } from '@queuelock/recipes';
import { expect } from 'chai';
import { Leads, QueuelockHealthIndicator } from '../src/index.ts';
import { memoryLocks } from '../src/testing.ts';
import { testingModule } from './application.ts';

type Work = (leadership: Leadership, stop: AbortSignal, checkIn: CheckIn) => Promise<void>;

const untilAborted = (stop: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener('abort', () => resolve());
  });

describe('@Leads', () => {
  const apps: INestApplication[] = [];

  const start = async (
    work: Work,
    server: MemoryServer = createMemoryServer(),
  ): Promise<INestApplication> => {
    @Injectable()
    class Scheduler {
      @Leads('scheduler', { checkInWithinMs: 1 })
      async lead(...args: Parameters<Work>): Promise<void> {
        await work(...args);
      }
    }
    const module = await testingModule({
      imports: [memoryLocks({ server })],
      providers: [Scheduler, { provide: 'alias', useExisting: Scheduler }],
    }).compile();
    const app = module.createNestApplication();
    apps.push(app);
    return app.init();
  };

  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
  });

  it('runs the method while this process leads, and hands over to another process at the shutdown', async () => {
    const server = createMemoryServer();
    const events: string[] = [];
    const lead =
      (name: string, begun: () => void): Work =>
      async (leadership, stop) => {
        events.push(`${name} leads`);
        begun();
        await untilAborted(stop);
        events.push(`${name} ends, held ${leadership.held}`);
      };
    let oneLeads!: () => void;
    let twoLeads!: () => void;
    const first = new Promise<void>((resolve) => (oneLeads = resolve));
    const second = new Promise<void>((resolve) => (twoLeads = resolve));
    const one = await start(lead('one', oneLeads), server);
    await first;
    await start(lead('two', twoLeads), server);
    await one.close();
    expect(events.slice(0, 2)).to.deep.equal(['one leads', 'one ends, held true']);
    await second;
    expect(events).to.deep.equal(['one leads', 'one ends, held true', 'two leads']);
  });

  it('joins the election again after the method failed', async () => {
    let terms = 0;
    let again!: () => void;
    const twice = new Promise<void>((resolve) => (again = resolve));
    await start(async (_leadership, stop) => {
      terms += 1;
      if (terms === 1) throw new Error('no disk');
      again();
      await untilAborted(stop);
    });
    await twice;
    expect(terms).to.equal(2);
  });

  it('fails the liveness check while a call of `checkIn` is overdue', async () => {
    let checks!: CheckIn;
    let begun!: () => void;
    const started = new Promise<void>((resolve) => (begun = resolve));
    const app = await start(async (_leadership, stop, checkIn) => {
      checks = checkIn;
      begun();
      await untilAborted(stop);
    });
    await started;
    const health = app.get(QueuelockHealthIndicator);
    while (health.liveness('locks').locks.status === 'up')
      await new Promise((resolve) => setImmediate(resolve));
    expect(health.liveness('locks').locks.problems).to.deep.equal([
      { check: 'work', text: 'the work "Scheduler.lead" has not checked in within 1 ms' },
    ]);
    checks();
    expect(health.liveness('locks').locks.status).to.equal('up');
  });

  it('makes the start of the application fail for a provider of request or transient scope', async () => {
    for (const scope of [Scope.REQUEST, Scope.TRANSIENT]) {
      @Injectable({ scope })
      class Scoped {
        @Leads('scoped')
        async lead(): Promise<void> {}
      }
      @Injectable()
      class User {
        readonly needs = Scoped;
      }
      const module = await testingModule({
        imports: [memoryLocks()],
        providers: [Scoped, User],
      }).compile();
      const error = await module.init().then(() => 'resolved', String);
      expect(error).to.match(/INVALID_ARGUMENT.*default scope.*Scoped.lead/);
      await module.close();
    }
  });

  it('leaves no entry in the queue after the shutdown', async () => {
    const server = createMemoryServer();
    const app = await start((_leadership, stop) => untilAborted(stop), server);
    const other = createLockClient(memory({ server }));
    await app.close();
    expect(await other.tryAcquire('scheduler').then((one) => one?.held)).to.equal(true);
    await other.close();
    expect(server.entryCount).to.equal(0);
  });
});
