import { expect } from 'chai';
import { QueueLockError } from '@queuelock/core/backend';
import {
  createMemoryServer,
  memory,
  virtualClock,
  type Intercept,
  type MemoryOptions,
} from '@queuelock/memory';
import { codeOf, openSession, record, recordTurns, newSpec } from './actors.ts';

const noResponse = new QueueLockError('UNAVAILABLE', 'the answer was lost');

/** Applies a fault to calls of one kind. All other calls pass unchanged. */
function only(kind: string, treat: Intercept): Intercept {
  return (call, proceed) => (call === kind ? treat(call, proceed) : proceed());
}

describe('a connection to a memory server', () => {
  const clock = virtualClock();
  const server = createMemoryServer({ clock });
  const connect = (options: MemoryOptions): ReturnType<typeof memory> => memory({ server, ...options });

  afterEach(async () => {
    server.close();
    // Waits for the events that the closed server emits, which arrive after half the latency.
    await clock.advance(10);
    expect(server.watcherCount).to.equal(0);
    expect(clock.timerCount).to.equal(0);
  });

  it('delays requests, replies and events by half of the option latencyMs each', async () => {
    const near = await openSession(connect({}));
    const opening = openSession(connect({ latencyMs: 10 }));
    await clock.advance(10);
    const far = await opening;
    const first = newSpec();
    await near.enqueue(first);
    const entering = far.enqueue(newSpec());
    await clock.advance(4);
    expect(server.entryCount).to.equal(1);
    await clock.advance(1);
    expect(server.entryCount).to.equal(2);
    await clock.advance(5);
    const turns = recordTurns((await entering).turns$);
    await near.remove('q', first.id);
    await clock.advance(4);
    expect(turns.seen).to.deep.equal([]);
    await clock.advance(1);
    expect(turns.seen).to.deep.equal([false, true]);
  });

  it('can lose the reply to a call that took effect, and the caller may repeat the call', async () => {
    let losses = 1;
    const intercept = only('enqueue', async (_call, proceed) => {
      const response = await proceed();
      if (losses-- > 0) throw noResponse;
      return response;
    });
    const session = await openSession(connect({ intercept }));
    const spec = newSpec();
    expect(await codeOf(session.enqueue(spec))).to.equal('UNAVAILABLE');
    expect(server.entryCount).to.equal(1);
    expect((await session.enqueue(spec)).turn.admitted).to.equal(true);
    expect(server.entryCount).to.equal(1);
  });

  it('can lose a request: the call has no effect', async () => {
    const intercept = only('enqueue', async () => {
      throw noResponse;
    });
    const session = await openSession(connect({ intercept }));
    expect(await codeOf(session.enqueue(newSpec()))).to.equal('UNAVAILABLE');
    expect(server.entryCount).to.equal(0);
  });

  it('refuses a late enqueue whose id was removed before the request arrived', async () => {
    const late: (() => Promise<unknown>)[] = [];
    const intercept = only('enqueue', async (_call, proceed) => {
      late.push(proceed);
      throw noResponse;
    });
    const session = await openSession(connect({ intercept }));
    const spec = newSpec();
    await codeOf(session.enqueue(spec));
    await codeOf(session.enqueue(spec));
    expect(await session.remove('q', spec.id)).to.equal(false);
    await clock.advance(500);
    for (const arrive of late) expect(await codeOf(arrive())).to.equal('ENTRY_LOST');
    expect(server.entryCount).to.equal(0);
  });

  it('sends a request once, even if the option intercept calls `proceed` several times', async () => {
    const intercept = only('renew', async (_call, proceed) => {
      expect(proceed()).to.equal(proceed());
      return proceed();
    });
    const session = await openSession(connect({ intercept }));
    expect(await session.renew(new AbortController().signal)).to.equal(session.ttlMs);
  });

  it('passes every call to the interceptor', async () => {
    const calls: string[] = [];
    const backend = connect({
      intercept: (call, proceed) => {
        calls.push(call);
        return proceed();
      },
    });
    const { signal } = new AbortController();
    const session = await backend.resume!((await openSession(backend)).resumption!, signal);
    const spec = newSpec();
    await session.renew(signal);
    await session.enqueue(spec);
    await session.enqueueAll!([newSpec()]);
    await session.tryEnqueue(newSpec());
    await session.update('q', spec.id, 'v');
    await session.share!('q', spec.id, 'v');
    await session.traces!.leave('q', spec.id);
    await session.traces!.erase('q', []);
    await session.remove('q', spec.id);
    await session.close();
    await backend.evict!('q', { key: 'q/0', order: 0n });
    await backend.registers!.read('q', 'kind');
    await backend.registers!.write('q', 'kind', { text: undefined, was: undefined });
    expect(calls.join(' ')).to.equal(
      'open resume renew enqueue enqueueAll tryEnqueue update share leaveTrace eraseTraces remove close ' +
        'evict readRegister writeRegister',
    );
  });

  it('resolves close() of a session even if the request to close it is lost', async () => {
    const intercept = only('close', async () => {
      throw noResponse;
    });
    const session = await openSession(connect({ intercept }));
    await session.close();
    expect(server.sessionIds).to.deep.equal([session.id]);
  });

  it('aborts the renewal of a session when the signal of the call aborts', async () => {
    const intercept = only('renew', () => new Promise(() => undefined));
    const backend = connect({ intercept });
    const session = await openSession(backend);
    const stop = new AbortController();
    const renewing = session.renew(stop.signal).catch((error: unknown) => error);
    stop.abort('enough');
    expect(await renewing).to.equal('enough');
    expect((await backend.open(1_000, stop.signal)).ttlMs).to.equal(1_000);
  });

  it('delivers the events of a subscription in order, even if deliver() passes them on in another order', async () => {
    const held: (() => void)[] = [];
    const far = connect({ deliver: (arrive) => held.push(arrive) });
    const near = await openSession(connect({}));
    const first = newSpec();
    await near.enqueue(first);
    const placement = await (await openSession(far)).enqueue(newSpec());
    const turns = recordTurns(placement.turns$);
    await near.remove('q', first.id);
    for (const arrive of held.reverse()) arrive();
    expect(turns.seen).to.deep.equal([false, true]);
    turns.stop();
  });

  it('drops events in flight when their subscription ends', async () => {
    const held: (() => void)[] = [];
    const seen = record(connect({ deliver: (arrive) => held.push(arrive) }).observe('q'));
    seen.stop();
    for (const arrive of held) arrive();
    expect(seen.seen).to.deep.equal([]);
  });

  it('emits nothing once it is closed, and rejects calls', async () => {
    const backend = connect({});
    const other = await openSession(connect({}), 60_000);
    const session = await openSession(backend, 1_000);
    const turns = recordTurns((await session.enqueue(newSpec())).turns$);
    const seen = record(backend.observe('q'));
    const next = recordTurns((await other.enqueue(newSpec())).turns$);
    await backend.close();
    await backend.close();
    expect(await codeOf(session.enqueue(newSpec()))).to.equal('CLOSED');
    expect(await codeOf(openSession(backend))).to.equal('CLOSED');
    expect(record(backend.observe('q')).seen).to.deep.equal(['CLOSED']);
    await session.close();
    await clock.advance(999);
    expect(next.seen).to.deep.equal([false]);
    await clock.advance(1);
    expect(next.seen).to.deep.equal([false, true]);
    expect(turns.seen).to.deep.equal([true]);
    expect(seen.seen).to.have.length(2);
  });

  it('closes the server that it has created when it is closed itself', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const backend = memory();
    await (await openSession(backend, 60_000)).enqueue(newSpec());
    const open = timers();
    await backend.close();
    expect(timers()).to.equal(open - 1);
  });

  it('rejects invalid options with name, value and rule in the error', () => {
    expect(() => memory({ latencyMs: -1 })).to.throw(
      'latencyMs is a number of milliseconds from 0 up; got -1',
    );
    const foreign = { ...server };
    expect(() => memory({ server: foreign })).to.throw(
      'server comes from createMemoryServer(); got an object',
    );
    expect(() => {
      memory().checkName('');
    }).to.throw('queue is a string with at least one character; got ""');
  });
});
