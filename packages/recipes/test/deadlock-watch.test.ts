import { createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import {
  createMemoryServer,
  memory,
  virtualClock,
  type MemoryServer,
  type VirtualClock,
} from '@queuelock/memory';
import { expect } from 'chai';
import { watchDeadlocks, type Deadlock } from '../src/index.ts';
import { follow, type Followed } from './frame.ts';
import { MemoryLine } from './memory-store.ts';

/** Half of `confirmMs`, the time in milliseconds for which a cycle must exist before it is reported. */
const HALF_MS = 50;
/** Time in milliseconds after which a client reads again after an error. */
const READS_AGAIN_MS = 500;

describe('the watch for deadlocks', () => {
  let clock: VirtualClock;
  let north: MemoryServer;
  let south: MemoryServer;
  let clients: LockClient[];
  let claims: Followed<unknown>[];

  beforeEach(() => {
    clock = virtualClock();
    north = createMemoryServer({ clock, name: 'north' });
    south = createMemoryServer({ clock, name: 'south' });
    clients = [];
    claims = [];
  });

  afterEach(async () => {
    for (const claim of claims) claim.stop();
    await Promise.all(clients.map((client) => client.close()));
    for (const { entryCount, watcherCount } of [north, south])
      expect([entryCount, watcherCount]).to.deep.equal([0, 0]);
    expect(clock.timerCount).to.equal(0);
  });

  function connect(backend = memory({ server: north }), owner = 'somebody'): LockClient {
    const client = createLockClient(backend, { clock, owner });
    clients.push(client);
    return client;
  }

  async function wait(client: LockClient, name: string, ...holding: Ownership[]): Promise<Followed<unknown>> {
    const claim = follow(client.claim(name, { holding }));
    claims.push(claim);
    await clock.advance(0);
    return claim;
  }

  /**
   * Creates a cycle over two stores, north and south. Ann holds in the north and waits in the south, Ben
   * holds in the south and waits in the north. Returns clients that watch both stores.
   */
  async function circle(): Promise<{
    readonly watchers: readonly [LockClient, LockClient];
    readonly ann: Followed<unknown>;
    readonly ben: Followed<unknown>;
  }> {
    const [annNorth, annSouth] = [connect(undefined, 'ann'), connect(memory({ server: south }), 'ann')];
    const [benNorth, benSouth] = [connect(undefined, 'ben'), connect(memory({ server: south }), 'ben')];
    // Earlier acquisitions increase the order numbers in the north. Both waits begin in the same millisecond,
    // so the order numbers decide which wait counts as the later one, the victim.
    for (let i = 0; i < 9; i += 1) await (await benNorth.acquire('x')).release();
    const held = [await annNorth.acquire('x'), await benSouth.acquire('x')] as const;
    const ann = await wait(annSouth, 'x', held[0]);
    const ben = await wait(benNorth, 'x', held[1]);
    return { watchers: [annNorth, benSouth], ann, ben };
  }

  function watch(
    watchers: readonly LockClient[],
  ): Pick<Followed<readonly Deadlock[]>, 'last' | 'end'> & { readonly brief: readonly string[] } {
    const sources = watchers.map((client) => ({ client, names: ['x'] }));
    const followed = follow(watchDeadlocks(sources, { confirmMs: 2 * HALF_MS, clock }));
    claims.push(followed);
    return {
      get brief() {
        return followed.values.map((found) => found.map(whoWaits).join());
      },
      get last() {
        return followed.last;
      },
      get end() {
        return followed.end;
      },
    };
  }

  it('reports a cycle over two stores after `confirmMs`, and the end of the cycle immediately', async () => {
    const { watchers, ben } = await circle();
    const found = watch(watchers);
    await clock.advance(2 * HALF_MS - 1);
    expect(found.brief).to.deep.equal(['']);
    await clock.advance(1);
    expect(found.brief).to.deep.equal(['', 'ben for ann, ann for ben']);
    expect(found.last![0]!.victim.entry.owner).to.equal('ben');
    await clock.advance(1_000);
    ben.stop();
    await clock.advance(0);
    expect(found.brief).to.deep.equal(['', 'ben for ann, ann for ben', '']);
  });

  it('reports a cycle `confirmMs` after it began, although other entries join and leave', async () => {
    const { watchers } = await circle();
    const found = watch(watchers);
    const passer = connect(undefined, 'passer');
    for (let i = 0; i < 4; i += 1) {
      const claim = await wait(passer, 'x');
      await clock.advance(HALF_MS / 2);
      claim.stop();
    }
    expect(found.brief).to.deep.equal(['', 'ben for ann, ann for ben']);
  });

  it('measures the age of a cycle anew after the cycle was broken', async () => {
    const { watchers, ann, ben } = await circle();
    const found = watch(watchers);
    await clock.advance(2 * HALF_MS - 1);
    expect([ann.values.length, ben.values.length]).to.deep.equal([2, 2]);
    ben.stop();
    await clock.advance(1);
    expect(found.brief).to.deep.equal(['']);
  });

  it('does not report a cycle that appears only because two snapshots are of different moments', async () => {
    const late: (() => void)[] = [];
    const slow = connect(memory({ server: north, deliver: (arrive) => late.push(arrive) }));
    const quick = connect(memory({ server: south }));
    const [ann, ben] = [connect(undefined, 'ann'), connect(undefined, 'ben')];
    const [annSouth, benSouth] = [connect(memory({ server: south })), connect(memory({ server: south }))];
    const [annHolds, benHolds] = [await ann.acquire('x'), await benSouth.acquire('x')];
    const benWaits = await wait(ben, 'x', benHolds);
    const found = watch([slow, quick]);
    await clock.advance(0);
    // Delivers the delayed snapshot of the northern store, which shows that Ben waits.
    late.splice(0).forEach((arrive) => arrive());
    benWaits.stop();
    await clock.advance(0);
    await wait(annSouth, 'x', annHolds);
    await clock.advance(2 * HALF_MS - 1);
    late.splice(0).forEach((arrive) => arrive());
    await clock.advance(1_000);
    expect(found.brief).to.deep.equal(['']);
  });

  it('reads late notifications after a pause of the process before it reports a cycle', async () => {
    const late: (() => void)[] = [];
    const { ben } = await circle();
    const slow = connect(memory({ server: north, deliver: (arrive) => late.push(arrive) }));
    const found = watch([slow, connect(memory({ server: south }))]);
    late.splice(0).forEach((arrive) => arrive());
    await clock.advance(0);
    ben.stop();
    await clock.advance(0);
    clock.stall(100 * HALF_MS);
    // After a stall the due timers fire first. The messages that arrived during the stall are read
    // afterwards.
    await clock.advance(0);
    late.splice(0).forEach((arrive) => arrive());
    await clock.advance(100 * HALF_MS);
    expect(found.brief).to.deep.equal(['']);
  });

  it('withdraws a report while a store cannot be reached, and reports the cycle again later', async () => {
    const { watchers } = await circle();
    const line = new MemoryLine(south);
    const found = watch([watchers[0], connect(line.connect())]);
    await clock.advance(2 * HALF_MS);
    line.cut();
    await clock.advance(0);
    expect(found.brief).to.deep.equal(['', 'ben for ann, ann for ben', '']);
    await line.mend();
    await clock.advance(READS_AGAIN_MS);
    await clock.advance(2 * HALF_MS - 1);
    expect(found.brief.length).to.equal(3);
    await clock.advance(1);
    expect(found.brief.slice(3)).to.deep.equal(['ben for ann, ann for ben']);
  });

  it('withdraws a report when a session in the cycle ends', async () => {
    const { watchers } = await circle();
    const found = watch(watchers);
    await clock.advance(2 * HALF_MS);
    expect(found.brief.at(-1)).to.equal('ben for ann, ann for ben');
    south.expireSession(
      south
        .queues()
        .get('x')!
        .find(({ value }) => value.includes('ann'))!.sessionId,
    );
    await clock.advance(0);
    expect(found.brief.at(-1)).to.equal('');
  });

  it('ignores the queues of a closed client, and completes when the last client is closed', async () => {
    await circle();
    const [one, other] = [connect(), connect(memory({ server: south }))];
    const found = watch([one, other]);
    await clock.advance(2 * HALF_MS);
    await one.close();
    expect([found.brief.at(-1), found.end]).to.deep.equal(['', undefined]);
    await other.close();
    expect(found.end).to.equal('complete');
  });

  it('watches each queue once for all subscribers, and does not watch it without subscribers', async () => {
    const clientsBefore = north.watcherCount;
    const deadlocks$ = watchDeadlocks([{ client: connect(), names: ['x', 'y'] }], { clock });
    const [one, other] = [follow(deadlocks$), follow(deadlocks$)];
    expect([clientsBefore, north.watcherCount]).to.deep.equal([0, 2]);
    expect([one.last, other.last]).to.deep.equal([[], []]);
    one.stop();
    expect(north.watcherCount).to.equal(2);
    other.stop();
    expect(north.watcherCount).to.equal(0);
  });

  it('finds no deadlock in an empty list of queues', () => {
    const found = follow(watchDeadlocks([]));
    expect([found.values, found.end]).to.deep.equal([[[]], 'complete']);
  });

  it('rejects invalid arguments at the call', () => {
    const client = connect();
    expect(() => watchDeadlocks([{ client, names: [''] }])).to.throw('name');
    expect(() => watchDeadlocks([{ client, names: ['x'] }], { confirmMs: -1 })).to.throw(
      '[INVALID_ARGUMENT] confirmMs is a whole number from 0 up; got -1',
    );
  });
});

function whoWaits({ waits }: Deadlock): string {
  return waits.map(({ entry, waitsFor }) => `${entry.owner} for ${waitsFor.owner}`).join(', ');
}
