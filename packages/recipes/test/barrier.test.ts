import type { LockClient, QueueLockError } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import { expect } from 'chai';
import { barrier, type Barrier } from '../src/index.ts';
import { MemoryStage, failureOf } from './election-stage.ts';
import { givenUpAtEveryPoint } from './give-up.ts';
import { join } from './join.ts';

describe('a barrier', () => {
  let stage: MemoryStage;
  let client: LockClient;
  let gate: Barrier;
  let passed: string[];

  beforeEach(() => {
    stage = new MemoryStage();
    client = stage.client();
    gate = barrier(client, 'gate');
    passed = [];
  });

  afterEach(() => stage.close());

  const walk = (who: string, at = barrier(stage.client(), 'gate')): void => {
    at.pass().then(
      () => passed.push(who),
      (error: unknown) => passed.push(`${who}: ${(error as QueueLockError).code}`),
    );
  };

  it('is open, with nothing in the store, until a client closes it', async () => {
    await gate.pass();
    await stage.settle();
    expect([stage.server.entryCount, stage.server.watcherCount]).to.deep.equal([0, 0]);
  });

  it('lets all waiters pass when it opens', async () => {
    const closed = await gate.close();
    for (const who of ['ann', 'ben', 'cid']) walk(who);
    await stage.settle();
    expect([passed, stage.server.entryCount]).to.deep.equal([[], 4]);
    const before = stage.server.wakeUps;
    await closed.release();
    await stage.settle();
    expect(passed).to.have.members(['ann', 'ben', 'cid']);
    expect([stage.server.wakeUps - before, stage.server.entryCount]).to.deep.equal([3, 0]);
  });

  it('opens when the session of the client that closed it expires, and aborts the signal of that client', async () => {
    const closed = await gate.close();
    walk('ann');
    await stage.settle();
    stage.expireFirst('gate');
    await stage.settle();
    expect([passed, closed.signal.aborted]).to.deep.equal([['ann'], true]);
  });

  it('is closed by one client at a time, and lets the earlier waiters pass before the next client closes it', async () => {
    const first = await gate.close();
    walk('ann');
    const again = barrier(stage.client(), 'gate').close();
    await stage.settle();
    walk('ben');
    await stage.settle();
    await first.release();
    const second = await again;
    await stage.settle();
    expect(passed).to.deep.equal(['ann']);
    await second.release();
    await stage.settle();
    expect(passed).to.deep.equal(['ann', 'ben']);
  });

  it('is closed only when all clients that were already passing have passed', async () => {
    const slow: (() => void)[] = [];
    const intercept: Intercept = async (call, proceed) => {
      if (call === 'remove') await new Promise<void>((resolve) => slow.push(resolve));
      return proceed();
    };
    await barrier(stage.client({ backend: { intercept } }), 'gate').pass();
    let isClosed = false;
    const closing = gate.close().then((closed) => {
      isClosed = true;
      return closed;
    });
    await stage.settle();
    expect(isClosed).to.equal(false);
    slow[0]!();
    await (await closing).release();
  });

  it('ends a wait by its signal or timeout, and leaves no entry', async () => {
    const closed = await gate.close();
    const stop = new AbortController();
    const stopped = failureOf(gate.pass({ signal: stop.signal }));
    const late = failureOf(gate.pass({ timeoutMs: 100 }));
    const second = failureOf(gate.close({ timeoutMs: 100 }));
    await stage.settle();
    stop.abort(new Error('enough'));
    await stage.clock.advance(100);
    expect(await stopped).to.include({ message: 'enough' });
    expect(await late).to.include({ code: 'TIMEOUT' });
    expect(await second).to.include({ code: 'TIMEOUT' });
    expect(await failureOf(gate.pass({ timeoutMs: 0 }))).to.include({ code: 'TIMEOUT' });
    await stage.settle();
    expect([stage.server.entryCount, stage.server.watcherCount]).to.deep.equal([1, 1]);
    await closed.release();
    await gate.pass({ timeoutMs: 0 });
  });

  it('rejects waiters with CLOSED when their client is closed', async () => {
    const closed = await gate.close();
    const [ann, ben] = [stage.client(), stage.client()];
    walk('ann', barrier(ann, 'gate'));
    await stage.settle();
    walk('ben', barrier(ben, 'gate'));
    await stage.settle();
    const [, entry] = stage.server.queues().get('gate')!;
    stage.server.expireSession(entry!.sessionId);
    await ben.close();
    expect(passed).to.deep.equal(['ann: SESSION_LOST', 'ben: CLOSED']);
    await closed.release();
  });

  it('leaves no entry when a call is aborted at any await', async () => {
    const attempt = (mine: LockClient, signal: AbortSignal): Promise<void> =>
      barrier(mine, 'gate').pass({ signal });
    expect(await givenUpAtEveryPoint({ attempt })).to.be.above(2);
    const before = async (at: MemoryStage): Promise<() => unknown> => {
      const closed = await barrier(at.client(), 'gate').close();
      return () => closed.release();
    };
    expect(await givenUpAtEveryPoint({ before, attempt })).to.be.above(4);
  });

  it('shares its queue with locks of the same name', async () => {
    const lock = await join(client, 'gate');
    walk('ann');
    await stage.settle();
    expect(passed).to.deep.equal([]);
    await (await lock.held).release();
    await stage.settle();
    expect(passed).to.deep.equal(['ann']);
  });
});
