import type { LockClient, QueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import { cohort, type Cohort, type CohortHold } from '../src/index.ts';
import { MemoryStage, TTL_MS, deferred, failureOf, thrownBy } from './election-stage.ts';
import { givenUpAtEveryPoint } from './give-up.ts';
import { join } from './join.ts';

describe('a cohort', () => {
  let stage: MemoryStage;
  let client: LockClient;
  let crew: Cohort;
  let log: string[];
  const holds = new Map<string, CohortHold>();

  beforeEach(() => {
    stage = new MemoryStage();
    client = stage.client();
    crew = cohort(client, 'x', { handOffs: 2 });
    log = [];
    holds.clear();
  });

  afterEach(() => stage.close());

  const acquire = (who: string, by: Cohort = crew, options?: Parameters<Cohort['acquire']>[0]): void => {
    by.acquire(options).then(
      (hold) => {
        log.push(who);
        holds.set(who, hold);
      },
      (error: unknown) =>
        log.push(`${who}: ${(error as Partial<QueueLockError>).code ?? (error as Error).message}`),
    );
  };

  const entries = (): number => stage.server.entryCount;

  it('has one entry in the queue, and passes its hold on without a request to the server', async () => {
    let calls = 0;
    const counted = stage.client({
      backend: { intercept: (_call, proceed) => ((calls += 1), proceed()) },
    });
    const mine = cohort(counted, 'x');
    for (const who of ['ann', 'ben', 'cid']) acquire(who, mine);
    await stage.settle();
    expect([log, entries()]).to.deep.equal([['ann'], 1]);
    const before = calls;
    await holds.get('ann')!.release();
    await stage.settle();
    await holds.get('ben')!.release();
    await stage.settle();
    expect([log, calls - before]).to.deep.equal([['ann', 'ben', 'cid'], 0]);
    expect(new Set([...holds.values()].map(({ token }) => token)).size, 'tokens').to.equal(1);
    await holds.get('cid')!.release();
    expect(entries()).to.equal(0);
  });

  it('releases the lock after `handOffs` local hand-offs, and joins again behind the other clients', async () => {
    const otherClaim = stage.client();
    for (const who of ['1', '2', '3', '4']) acquire(who);
    await stage.settle();
    const other = await join(otherClaim, 'x');
    for (const who of ['1', '2', '3']) {
      expect(other.ownership, `while ${who} holds`).to.equal(undefined);
      void holds.get(who)!.release();
      await stage.settle();
    }
    expect(log).to.deep.equal(['1', '2', '3']);
    expect(other.ownership!.held).to.equal(true);
    expect(entries()).to.equal(2);
    await other.ownership!.release();
    await stage.settle();
    expect(log).to.deep.equal(['1', '2', '3', '4']);
    expect(holds.get('4')!.token > other.ownership!.token).to.equal(true);
    await holds.get('4')!.release();
  });

  it('releases the lock after each hold when `handOffs` is 0', async () => {
    const single = cohort(client, 'x', { handOffs: 0 });
    acquire('ann', single);
    acquire('ben', single);
    await stage.settle();
    await holds.get('ann')!.release();
    await stage.settle();
    expect(log).to.deep.equal(['ann', 'ben']);
    expect(holds.get('ben')!.token > holds.get('ann')!.token).to.equal(true);
    await holds.get('ben')!.release();
  });

  it('keeps its entry in the queue when one of its local waiters gives up', async () => {
    const stop = new AbortController();
    const otherClaim = await join(stage.client(), 'x');
    acquire('ann', crew, { signal: stop.signal });
    acquire('ben', crew, { timeoutMs: 5 });
    acquire('cid');
    await stage.settle();
    const [, entry] = stage.server.queues().get('x')!;
    stop.abort(new Error('enough'));
    expect(await failureOf(crew.acquire({ timeoutMs: 10 }))).to.include({ code: 'TIMEOUT' });
    // The acquirers `ann` and `ben` may give up in any order: the timeout of `ben` runs in real time, so it
    // may come before or after the abort of `ann`.
    expect(log).to.have.members(['ann: enough', 'ben: TIMEOUT']);
    expect(stage.server.queues().get('x')![1]!.id, 'the entry stays').to.equal(entry!.id);
    await otherClaim.ownership!.release();
    await stage.settle();
    expect(log.at(-1)).to.equal('cid');
    await holds.get('cid')!.release();
  });

  it('leaves the queue when the last local waiter has given up', async () => {
    const otherClaim = await join(stage.client(), 'x');
    const stop = new AbortController();
    acquire('ann', crew, { signal: stop.signal });
    await stage.settle();
    expect(entries()).to.equal(2);
    stop.abort(new Error('enough'));
    await stage.settle();
    expect([log, entries()]).to.deep.equal([['ann: enough'], 1]);
    expect(await failureOf(crew.acquire({ signal: stop.signal }))).to.include({ message: 'enough' });
    await otherClaim.ownership!.release();
    await stage.settle();
    expect(entries()).to.equal(0);
  });

  it('notifies its holder of a loss at once, and joins again for its local waiters', async () => {
    acquire('ann');
    acquire('ben');
    await stage.settle();
    const { signal, token } = holds.get('ann')!;
    const reasons: unknown[] = [];
    signal.addEventListener('abort', () => reasons.push(signal.reason));
    const otherClaim = await join(stage.client(), 'x');
    stage.expireFirst('x');
    expect(reasons).to.have.length(1);
    expect(reasons[0]).to.include({ code: 'OWNERSHIP_LOST', reason: 'session-lost' });
    expect([holds.get('ann')!.held, holds.get('ann')!.remainingMs]).to.deep.equal([false, 0]);
    expect(thrownBy(() => holds.get('ann')!.throwIfLost())).to.equal(reasons[0]);
    await holds.get('ann')!.release();
    await stage.settle();
    expect([log, entries()]).to.deep.equal([['ann'], 2]);
    await otherClaim.ownership!.release();
    await stage.settle();
    expect(log).to.deep.equal(['ann', 'ben']);
    expect(holds.get('ben')!.token > token).to.equal(true);
    await holds.get('ben')!.release();
  });

  it('reports a loss at the next read of held or signal, even before a timer has run', async () => {
    for (const read of [
      ({ held }: CohortHold) => !held,
      ({ signal }: CohortHold) => signal.aborted,
      ({ signal }: CohortHold) => signal.reason !== undefined,
      ({ signal }: CohortHold) => thrownBy(() => signal.throwIfAborted()).code === 'OWNERSHIP_LOST',
      (hold: CohortHold) => thrownBy(() => hold.throwIfLost()).code === 'OWNERSHIP_LOST',
    ]) {
      const own = cohort(stage.client(), 'y');
      const hold = await own.acquire();
      const { signal } = hold;
      expect(signal.aborted).to.equal(false);
      stage.clock.stall(2 * TTL_MS);
      expect(read(hold)).to.equal(true);
      await stage.settle();
    }
  });

  it('never aborts the signal of a hold that was handed on to the next acquirer before the loss', async () => {
    acquire('ann');
    acquire('ben');
    await stage.settle();
    await holds.get('ann')!.release();
    await stage.settle();
    stage.expireFirst('x');
    await stage.settle();
    const [ann, ben] = [holds.get('ann')!, holds.get('ben')!];
    expect([ann.signal.aborted, ben.signal.aborted]).to.deep.equal([false, true]);
    expect(thrownBy(() => ann.throwIfLost()).message).to.match(/"x" was released/);
  });

  it('passes a hold on once, even if it is released several times', async () => {
    for (const who of ['ann', 'ben', 'cid']) acquire(who);
    await stage.settle();
    await Promise.all([holds.get('ann')!.release(), holds.get('ann')!.release()]);
    await holds.get('ann')!.release();
    await stage.settle();
    expect(log).to.deep.equal(['ann', 'ben']);
    await holds.get('ben')!.release();
    await stage.settle();
    await holds.get('cid')!.release();
  });

  it('rejects all local waiters when the wait of its entry fails', async () => {
    const otherClaim = await join(stage.client(), 'x');
    acquire('ann');
    acquire('ben');
    await stage.settle();
    stage.server.expireSession(stage.server.queues().get('x')![1]!.sessionId);
    await stage.settle();
    expect(log).to.deep.equal(['ann: SESSION_LOST', 'ben: SESSION_LOST']);
    acquire('cid');
    await stage.settle();
    await client.evict('x', (await seen(client))[1]!, { reason: 'stuck' });
    await stage.settle();
    expect(log.at(-1)).to.equal('cid: ENTRY_LOST');
    await otherClaim.ownership!.release();
    await (await crew.acquire()).release();
  });

  it('names the operator in the loss of an evicted holder, and lets the next local waiter hold', async () => {
    acquire('ann');
    acquire('ben');
    await stage.settle();
    const operator = stage.client({ owner: 'olga' });
    await operator.evict('x', (await seen(operator))[0]!, { reason: 'stuck' });
    await stage.settle();
    expect(holds.get('ann')!.signal.reason).to.deep.include({
      code: 'OWNERSHIP_LOST',
      reason: 'entry-removed',
    });
    const { eviction } = holds.get('ann')!.signal.reason as QueueLockError;
    expect(eviction).to.include({ by: 'olga', reason: 'stuck' });
    expect(log).to.deep.equal(['ann', 'ben']);
    await holds.get('ben')!.release();
  });

  it('allows the listener of a loss to acquire again', async () => {
    acquire('ann');
    await stage.settle();
    holds.get('ann')!.signal.addEventListener('abort', () => acquire('ann again'));
    stage.expireFirst('x');
    await stage.settle();
    expect(log).to.deep.equal(['ann', 'ann again']);
    holds.get('ann again')!.signal.addEventListener('abort', () => acquire('and again'));
    await crew.close();
    await stage.settle();
    expect([log.at(-1), entries()]).to.deep.equal(['and again: CLOSED', 0]);
  });

  it('runs work, and rejects when the lock was lost during the work', async () => {
    expect(await crew.run(({ held }) => [held, entries()])).to.deep.equal([true, 1]);
    expect(await failureOf(crew.run(() => Promise.reject(new Error('mine'))))).to.include({
      message: 'mine',
    });
    const work = deferred();
    const begun = deferred();
    const running = crew.run(() => (begun.resolve(), work.promise));
    await begun.promise;
    stage.expireFirst('x');
    const own = new Error('because');
    work.reject(own);
    expect(await failureOf(running)).to.include({
      code: 'OWNERSHIP_LOST',
      cause: own,
      reason: 'session-lost',
    });
    await stage.settle();
    expect(entries()).to.equal(0);
  });

  it('rejects its waiters and revokes its hold when it is closed', async () => {
    acquire('ann');
    acquire('ben');
    await stage.settle();
    await Promise.all([crew.close(), crew.close()]);
    expect([log, entries()]).to.deep.equal([['ann', 'ben: CLOSED'], 0]);
    expect(holds.get('ann')!.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'client-closed' });
    expect(await failureOf(crew.acquire())).to.include({ code: 'CLOSED' });
    await (await client.acquire('x')).release();
    const waiting = cohort(client, 'x');
    const other = await client.acquire('x');
    acquire('cid', waiting);
    await stage.settle();
    await waiting[Symbol.asyncDispose]();
    await stage.settle();
    expect([log.at(-1), entries()]).to.deep.equal(['cid: CLOSED', 1]);
    await other.release();
  });

  it('ends all waits and holds when its client is closed', async () => {
    acquire('ann');
    acquire('ben');
    await stage.settle();
    await client.close();
    await stage.settle();
    expect(log).to.deep.equal(['ann', 'ben: CLOSED']);
    expect(holds.get('ann')!.signal.reason).to.include({ reason: 'client-closed' });
    expect(await failureOf(crew.acquire())).to.include({ code: 'CLOSED' });
  });

  it('leaves no entry when a call is aborted at any await', async () => {
    const attempt = (mine: LockClient, signal: AbortSignal): Promise<CohortHold> =>
      cohort(mine, 'x').acquire({ signal });
    const undo = (hold: CohortHold): unknown => hold.release();
    expect(await givenUpAtEveryPoint({ attempt, undo })).to.be.above(2);
    const before = async (at: MemoryStage): Promise<() => unknown> => {
      const hold = await at.client().acquire('x');
      return () => hold.release();
    };
    expect(await givenUpAtEveryPoint({ before, attempt, undo })).to.be.above(2);
  });

  it('shows its owner and metadata in its entry, but not the locks that its first caller holds', async () => {
    const named = cohort(client, 'x', { owner: 'crew', metadata: { room: '7' } });
    await client.run('other', async () => {
      const hold = await named.acquire();
      expect((await seen(client))[0]).to.deep.include({ owner: 'crew', metadata: { room: '7' }, holds: [] });
      await hold.release();
    });
  });

  it('rejects invalid options and names', async () => {
    for (const handOffs of [-1, 0.5, Infinity]) {
      expect(thrownBy(() => cohort(client, 'x', { handOffs }))).to.include({ code: 'INVALID_ARGUMENT' });
    }
    expect(thrownBy(() => cohort(client, ''))).to.include({ code: 'INVALID_ARGUMENT' });
    expect(await failureOf(crew.acquire({ timeoutMs: 0 }))).to.include({ code: 'INVALID_ARGUMENT' });
    expect(entries()).to.equal(0);
  });

  async function seen(by: LockClient) {
    let latest: Parameters<LockClient['evict']>[1][] = [];
    const watch = by.watch('x').subscribe(({ entries: now }) => (latest = [...now]));
    await stage.settle();
    watch.unsubscribe();
    return latest;
  }
});
