import { createLockClient, type LockClient } from '@queuelock/core';
import { createMemoryServer, memory, virtualClock, type Intercept, type MemoryCall } from '@queuelock/memory';
import { createLockManager, type LockManager } from '@queuelock/weblocks';
import { expect } from 'chai';
import { hold, reasonOf } from './frame.ts';

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

const CHANGES: ReadonlySet<MemoryCall> = new Set(['enqueue', 'tryEnqueue', 'remove', 'evict']);

describe('a lock manager that keeps the order of its requests', () => {
  let under: string[] = [];
  /** Calls to the store wait until this promise resolves. Initially it is resolved. */
  let gate: Promise<void>;
  let client: LockClient;
  let locks: LockManager;
  let server: ReturnType<typeof createMemoryServer>;

  beforeEach(async () => {
    gate = Promise.resolve();
    server = createMemoryServer();
    const intercept: Intercept = async (call, proceed) => {
      if (CHANGES.has(call)) {
        under.push(call);
        await gate;
      }
      return proceed();
    };
    client = createLockClient(memory({ server, intercept }));
    locks = createLockManager(client, { scope: 's' });
    await locks.request('warm-up', () => undefined);
    under = [];
  });

  afterEach(() => client.close());

  const shut = (): (() => void) => {
    let open!: () => void;
    gate = new Promise((resolve) => (open = resolve));
    return open;
  };

  it('sends a lock request before the store has replied to the previous one', async () => {
    const open = shut();
    const both = [locks.request('a', () => 1), locks.request('b', () => 2)];
    await turns(5);
    expect(under).to.deep.equal(['enqueue', 'enqueue']);
    expect([...server.queues().keys()]).to.deep.equal([]);
    open();
    expect(await Promise.all(both)).to.deep.equal([1, 2]);
  });

  it('sends a release only after the acquisitions that were requested before it', async () => {
    const holding = await hold(locks, 'a');
    const open = shut();
    under = [];
    const request = locks.request('b', () => 'granted');
    const released = holding.end('released');
    await turns(5);
    expect(under.filter((call) => call === 'remove')).to.deep.equal([]);
    open();
    expect(await Promise.all([request, released])).to.deep.equal(['granted', 'released']);
  });

  it('settles a lock request only when its release is confirmed', async () => {
    const holding = await hold(locks, 'a');
    await turns(5);
    const open = shut();
    let isSettled = false;
    const released = holding.end().then(() => (isSettled = true));
    await turns(5);
    expect(isSettled).to.equal(false);
    open();
    await released;
  });

  it('sends a query only after the acquisitions that were requested before it', async () => {
    const open = shut();
    const request = hold(locks, 'a');
    let hasResponse = false;
    const query = locks.query().then((state) => {
      hasResponse = true;
      return state;
    });
    await turns(5);
    expect(hasResponse).to.equal(false);
    open();
    expect((await query).held).to.have.lengthOf(1);
    await (await request).end();
  });

  it('rejects an aborted lock request at once while the store does not respond', async () => {
    const open = shut();
    const controller = new AbortController();
    let runs = 0;
    const request = locks.request('a', { signal: controller.signal }, () => (runs += 1));
    await turns(3);
    controller.abort('enough');
    expect(await reasonOf(request)).to.equal('enough');
    open();
    await locks.query();
    expect(runs).to.equal(0);
    expect([...server.queues().keys()]).to.deep.equal([]);
  });

  it('sends nothing for a lock request that is aborted while it waits for an earlier request', async () => {
    const open = shut();
    const first = locks.request('a', () => undefined);
    const controller = new AbortController();
    const second = locks.request('b', { signal: controller.signal }, () => undefined);
    controller.abort('enough');
    expect(await reasonOf(second)).to.equal('enough');
    under = [];
    open();
    await first;
    await locks.query();
    expect(under.filter((call) => call === 'enqueue')).to.deep.equal([]);
  });

  it('continues after a request that fails', async () => {
    client.close().catch(() => undefined);
    expect(String(await reasonOf(locks.request('a', () => undefined)))).to.include('CLOSED');
    expect(String(await reasonOf(locks.request('b', () => undefined)))).to.include('CLOSED');
  });
});

describe('the cost of a lock request', () => {
  it('is two round trips for a free lock, or three if the previous request had to wait', async () => {
    const clock = virtualClock();
    const server = createMemoryServer({ clock });
    const locks = createLockManager(
      createLockClient(memory({ server, latencyMs: 100 }), { clock, ttlMs: 60_000 }),
    );
    const timeOf = async (work: () => Promise<unknown>): Promise<number> => {
      const begun = clock.now();
      const end = { at: undefined as number | undefined };
      void work().then(() => (end.at = clock.now()));
      while (end.at === undefined) await clock.advance(50);
      return end.at - begun;
    };
    await timeOf(() => locks.request('warm-up', () => undefined));
    expect(await timeOf(() => locks.request('a', () => undefined))).to.equal(200);
    let behind!: Promise<unknown>;
    await timeOf(() =>
      locks.request('a', async () => {
        behind = Promise.all([locks.request('a', () => 1), locks.request('a', () => 2)]);
      }),
    );
    await timeOf(() => behind);
    expect(await timeOf(() => locks.request('a', () => undefined))).to.equal(300);
    expect(await timeOf(() => locks.request('a', () => undefined))).to.equal(200);
    await timeOf(() => locks.close());
  });
});
