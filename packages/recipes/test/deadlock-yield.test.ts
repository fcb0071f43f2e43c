import {
  createLockClient,
  isQueueLockError,
  type ClaimState,
  type LockClient,
  type QueueLockError,
} from '@queuelock/core';
import {
  createMemoryServer,
  memory,
  virtualClock,
  type MemoryServer,
  type VirtualClock,
} from '@queuelock/memory';
import { expect } from 'chai';
import { BehaviorSubject, Observable, Subject, tap } from 'rxjs';
import { acquireOrYield, yieldOnDeadlock, type Deadlock } from '../src/index.ts';
import { follow } from './frame.ts';
import { queueOf } from './queues.ts';

describe('a claim that may give up in a deadlock', () => {
  let clock: VirtualClock;
  let server: MemoryServer;
  let client: LockClient;
  let deadlocks$: BehaviorSubject<readonly Deadlock[]>;

  beforeEach(() => {
    clock = virtualClock();
    server = createMemoryServer({ clock });
    client = createLockClient(memory({ server }), { clock });
    deadlocks$ = new BehaviorSubject<readonly Deadlock[]>([]);
  });

  afterEach(async () => {
    await client.close();
    expect([server.entryCount, server.watcherCount]).to.deep.equal([0, 0]);
    expect([deadlocks$.observed, clock.timerCount]).to.deep.equal([false, 0]);
  });

  function ids(): readonly string[] {
    return (server.queues().get('x') ?? []).map(({ id }) => id);
  }

  /** Returns a deadlock in which the entry with this id is the victim. */
  function against(id: string): Deadlock {
    const [ahead, entry] = queueOf('x', { owner: 'ann' }, { owner: 'ben', id }).entries;
    const victim = { name: 'x', entry: entry!, waitsFor: ahead! };
    return { waits: [victim], victim };
  }

  it('leaves the queue and rejects with the deadlock when its entry is the victim', async () => {
    const holder = await client.acquire('x');
    const yields = acquireOrYield(client, 'x', { deadlocks$ }).catch(
      (error: unknown) => error as QueueLockError,
    );
    await clock.advance(0);
    deadlocks$.next([against('f'.repeat(32)), against(ids()[1]!)]);
    const error = await yields;
    expect(isQueueLockError(error, 'DEADLOCK')).to.equal(true);
    expect(error).to.include({
      retryable: true,
      message:
        '[DEADLOCK] ben waits in "x" for ann: the last to join gave up; release what is held, and start again',
    });
    await clock.advance(0);
    expect(ids()).to.deep.equal([holder.id]);
    await holder.release();
  });

  it('continues to wait and is granted when other entries are the victims', async () => {
    const holder = await client.acquire('x');
    const waits = acquireOrYield(client, 'x', { deadlocks$ });
    await clock.advance(0);
    deadlocks$.next([against(holder.id), against('f'.repeat(32))]);
    await clock.advance(1_000);
    await holder.release();
    const ownership = await waits;
    expect(ownership.held).to.equal(true);
    await ownership.release();
  });

  it('gives up immediately in a deadlock that was reported before its wait began', async () => {
    const holder = await client.acquire('x');
    const report = (state: ClaimState): void => {
      if (state.status === 'queued') deadlocks$.next([against(state.id)]);
    };
    const claim = follow(client.claim('x').pipe(tap(report), yieldOnDeadlock(deadlocks$)));
    await clock.advance(0);
    expect(claim.values.map(({ status }) => status)).to.deep.equal(['joining', 'queued', 'ended']);
    expect(claim.end).to.equal('complete');
    await holder.release();
  });

  it('watches deadlocks only while it waits', async () => {
    const claim = follow(client.claim('x').pipe(yieldOnDeadlock(deadlocks$)));
    await clock.advance(0);
    expect([claim.last!.status, deadlocks$.observed]).to.deep.equal(['held', false]);
    const next = follow(client.claim('x').pipe(yieldOnDeadlock(deadlocks$)));
    await clock.advance(0);
    expect([next.last!.status, deadlocks$.observed]).to.deep.equal(['queued', true]);
    claim.stop();
    await clock.advance(0);
    expect([next.last!.status, deadlocks$.observed]).to.deep.equal(['held', false]);
    next.stop();
    await clock.advance(0);
  });

  it('continues to watch deadlocks while entries ahead of it leave', () => {
    let reads = 0;
    const counted$ = new Observable<readonly Deadlock[]>((subscriber) => {
      reads += 1;
      return deadlocks$.subscribe(subscriber);
    });
    const state$ = new Subject<ClaimState>();
    const claim = follow(state$.pipe(yieldOnDeadlock(counted$)));
    const queued = { status: 'queued', order: 3n, token: 3n, key: 'x/3', id: 'f'.repeat(32) } as const;
    state$.next({ ...queued, entriesAhead: 2 });
    state$.next({ ...queued, entriesAhead: 1 });
    expect([claim.values.length, reads]).to.deep.equal([2, 1]);
    deadlocks$.next([against(queued.id)]);
    expect([claim.last!.status, claim.end, state$.observed]).to.deep.equal(['ended', 'complete', false]);
  });

  it('rejects like acquire when it is aborted, times out or loses the session', async () => {
    const holder = await client.acquire('x');
    const other = createLockClient(memory({ server }), { clock });
    const abort = new AbortController();
    const ends = [
      acquireOrYield(client, 'x', { deadlocks$, signal: abort.signal }),
      acquireOrYield(client, 'x', { deadlocks$, timeoutMs: 5 }),
      acquireOrYield(other, 'x', { deadlocks$ }),
      acquireOrYield(client, 'x', { deadlocks$ }),
    ].map((end) => end.catch((error: unknown) => (isQueueLockError(error) ? error.code : error)));
    await clock.advance(0);
    abort.abort('changed my mind');
    await clock.advance(5);
    server.expireSession(
      server
        .queues()
        .get('x')!
        .find(({ sessionId }) => sessionId !== sessionOf(holder.id))!.sessionId,
    );
    await clock.advance(0);
    await client.close();
    expect(await Promise.all(ends)).to.deep.equal(['changed my mind', 'TIMEOUT', 'SESSION_LOST', 'CLOSED']);
    await other.close();
  });

  function sessionOf(id: string): string {
    return server
      .queues()
      .get('x')!
      .find((entry) => entry.id === id)!.sessionId;
  }

  it('leaves the queue when the caller unsubscribes, whether it is joining or queued', async () => {
    const holder = await client.acquire('x');
    for (const status of ['joining', 'queued'] as const) {
      const claim = follow(client.claim('x').pipe(yieldOnDeadlock(deadlocks$)));
      if (status === 'queued') await clock.advance(0);
      claim.stop();
      await clock.advance(0);
      expect([claim.last!.status, ids()]).to.deep.equal([status, [holder.id]]);
    }
    await holder.release();
  });

  it('rejects invalid arguments', async () => {
    const error = await acquireOrYield(client, 'x', { deadlocks$, timeoutMs: -1 }).catch(
      (reason: unknown) => reason,
    );
    expect(isQueueLockError(error, 'INVALID_ARGUMENT')).to.equal(true);
  });
});
