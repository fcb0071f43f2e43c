import type { LockClient } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import { expect } from 'chai';
import { doubleBarrier, type DoubleBarrier, type RoundMembership } from '../src/index.ts';
import { MemoryStage, failureOf, thrownBy } from './election-stage.ts';
import { givenUpAtEveryPoint } from './give-up.ts';
import { join } from './join.ts';

/** A member of a double barrier, and its state. */
class Walker {
  place: RoundMembership | undefined;
  error: unknown;
  isOut = false;

  constructor(barrier: DoubleBarrier, options?: Parameters<DoubleBarrier['enter']>[0]) {
    barrier.enter(options).then(
      (place) => (this.place = place),
      (error: unknown) => (this.error = error),
    );
  }

  leave(options?: Parameters<RoundMembership['leave']>[0]): void {
    this.place!.leave(options).then(
      () => (this.isOut = true),
      (error: unknown) => (this.error = error),
    );
  }

  get at(): string {
    if (this.error) return (this.error as { code?: string }).code ?? (this.error as Error).message;
    return this.isOut ? 'out' : this.place ? 'in' : 'waiting';
  }
}

describe('a double barrier', () => {
  let stage: MemoryStage;

  beforeEach(() => {
    stage = new MemoryStage();
  });

  afterEach(() => stage.close());

  const at = (members: number, client: LockClient = stage.client()): DoubleBarrier =>
    doubleBarrier(client, 'pair', { members });

  const walkers = async (count: number, members = count): Promise<Walker[]> => {
    const all: Walker[] = [];
    for (let n = 0; n < count; n++) {
      all.push(new Walker(at(members)));
      await stage.settle();
    }
    return all;
  };

  const where = (all: readonly Walker[]): string[] => all.map((walker) => walker.at);
  const expire = (which: number): void => {
    stage.server.expireSession(stage.server.queues().get('pair')![which]!.sessionId);
  };

  it('lets its members begin together, and end together', async () => {
    const all = await walkers(2, 3);
    expect(where(all)).to.deep.equal(['waiting', 'waiting']);
    all.push(new Walker(at(3)));
    await stage.settle();
    expect(where(all)).to.deep.equal(['in', 'in', 'in']);
    expect(all.map(({ place }) => place!.index)).to.deep.equal([0, 1, 2]);
    expect(new Set(all.map(({ place }) => place!.round)).size).to.equal(1);
    all[2]!.leave();
    all[0]!.leave();
    await stage.settle();
    expect(where(all)).to.deep.equal(['in', 'in', 'in']);
    all[1]!.leave();
    await stage.settle();
    expect(where(all)).to.deep.equal(['out', 'out', 'out']);
    expect([stage.server.entryCount, stage.server.registerCount]).to.deep.equal([0, 0]);
    expect(stage.server.watcherCount).to.equal(0);
  });

  it('works with a single member', async () => {
    const [only] = await walkers(1);
    only!.leave();
    await stage.settle();
    expect([only!.at, stage.server.registerCount]).to.deep.equal(['out', 0]);
  });

  it('may be entered several times by one client', async () => {
    const client = stage.client();
    const all = [new Walker(at(2, client)), new Walker(at(2, client))];
    await stage.settle();
    expect(where(all)).to.deep.equal(['in', 'in']);
    for (const walker of all) walker.leave();
    await stage.settle();
    expect(where(all)).to.deep.equal(['out', 'out']);
  });

  it('lets members that arrive during a round wait for the next round, in order', async () => {
    const all = await walkers(5, 2);
    expect(where(all)).to.deep.equal(['in', 'in', 'waiting', 'waiting', 'waiting']);
    all[0]!.leave();
    await stage.settle();
    expect(where(all)).to.deep.equal(['in', 'in', 'waiting', 'waiting', 'waiting']);
    all[1]!.leave();
    await stage.settle();
    expect(where(all)).to.deep.equal(['out', 'out', 'in', 'in', 'waiting']);
    expect(all[2]!.place!.round).not.to.equal(all[0]!.place!.round);
    all[2]!.leave();
    all[3]!.leave();
    all.push(new Walker(at(2)));
    await stage.settle();
    expect(where(all)).to.deep.equal(['out', 'out', 'out', 'out', 'in', 'in']);
    all[4]!.leave();
    all[5]!.leave();
    await stage.settle();
    expect([where(all).at(-1), stage.server.registerCount]).to.deep.equal(['out', 0]);
  });

  it('waits for a replacement when a member dies before the round begins', async () => {
    const all = await walkers(2, 3);
    expire(0);
    all.push(...(await walkers(1, 3)));
    expect(where(all)).to.deep.equal(['OWNERSHIP_LOST', 'waiting', 'waiting']);
    all.push(...(await walkers(1, 3)));
    expect(where(all)).to.deep.equal(['OWNERSHIP_LOST', 'in', 'in', 'in']);
    expect(all.slice(1).map(({ place }) => place!.index)).to.deep.equal([0, 1, 2]);
  });

  it('ends a round without waiting for a member that dies during the round', async () => {
    const all = await walkers(3);
    all[0]!.leave();
    all[2]!.leave();
    await stage.settle();
    expire(1);
    await stage.settle();
    expect(where(all)).to.deep.equal(['out', 'in', 'out']);
    expect(all[1]!.place!.signal.reason).to.include({ code: 'OWNERSHIP_LOST' });
    all[1]!.leave();
    await stage.settle();
    expect(all[1]!.at).to.equal('OWNERSHIP_LOST');
  });

  it('rejects `leave` of a member whose entry is lost', async () => {
    const all = await walkers(2);
    all[0]!.leave();
    await stage.settle();
    expire(0);
    await stage.settle();
    expect(where(all)).to.deep.equal(['OWNERSHIP_LOST', 'in']);
    all[1]!.leave();
    await stage.settle();
    expect(all[1]!.at).to.equal('out');
  });

  it('lets a member begin even if it reads late that the round has begun', async () => {
    const late: (() => void)[] = [];
    let hold = false;
    const deliver = (arrive: () => void): void => {
      if (hold) late.push(arrive);
      else arrive();
    };
    const backend = { deliver };
    const slow = new Walker(at(2, stage.client({ backend })));
    await stage.settle();
    hold = true;
    const quick = new Walker(at(2));
    await stage.settle();
    quick.leave();
    const [next, after] = await walkers(2);
    expect(where([quick, slow, next!, after!])).to.deep.equal(['in', 'waiting', 'waiting', 'waiting']);
    hold = false;
    for (const arrive of late) arrive();
    await stage.settle();
    expect(slow.at).to.equal('in');
    slow.leave();
    await stage.settle();
    expect(where([quick, slow, next!, after!])).to.deep.equal(['out', 'out', 'in', 'in']);
  });

  it('records the beginning of a round only once, even if the reply to the write is lost', async () => {
    let writes = 0;
    const intercept: Intercept = async (call, proceed) => {
      const response = await proceed();
      if (call === 'writeRegister' && ++writes === 1) throw new Error('the answer was lost');
      return response;
    };
    const first = new Walker(at(2));
    await stage.settle();
    const second = new Walker(at(2, stage.client({ backend: { intercept } })));
    await stage.settle();
    expect(where([first, second])).to.deep.equal(['in', 'in']);
    expect(writes).to.equal(1);
  });

  it('ends waits by signal and timeout, and leaves no entry', async () => {
    const stop = new AbortController();
    const given = new Walker(at(2), { signal: stop.signal });
    const late = new Walker(at(3), { timeoutMs: 5 });
    await stage.settle();
    stop.abort(new Error('enough'));
    await stage.settle();
    expect([given.at, late.at]).to.deep.equal(['enough', 'LIMIT_MISMATCH']);
    expect(await failureOf(at(2).enter({ timeoutMs: 5 }))).to.include({ code: 'TIMEOUT' });
    await stage.settle();
    expect(stage.server.entryCount).to.equal(0);
    const all = await walkers(2);
    expect(await failureOf(all[0]!.place!.leave({ timeoutMs: 5 }))).to.include({ code: 'TIMEOUT' });
    await stage.settle();
    expect(stage.server.entryCount).to.equal(1);
    all[1]!.leave();
    await stage.settle();
    expect([all[1]!.at, stage.server.watcherCount]).to.deep.equal(['out', 0]);
    expect(await failureOf(all[0]!.place!.leave()), 'asked again').to.include({ code: 'TIMEOUT' });
  });

  it('lets a member leave alone if the signal passed to `leave` has already aborted', async () => {
    const all = await walkers(2);
    all[0]!.leave({ signal: AbortSignal.abort(new Error('enough')) });
    await stage.settle();
    expect([where(all), stage.server.entryCount]).to.deep.equal([['enough', 'in'], 1]);
    expect(await failureOf(at(2).enter({ signal: AbortSignal.abort(new Error('no')) }))).to.include({
      message: 'no',
    });
    await stage.settle();
    expect(stage.server.entryCount).to.equal(1);
  });

  it('rejects members whose client is closed, and lets the others continue', async () => {
    const client = stage.client();
    const waits = new Walker(at(3, client));
    await stage.settle();
    await client.close();
    await stage.settle();
    expect(waits.error).to.include({ code: 'OWNERSHIP_LOST', reason: 'client-closed' });
    expect(await failureOf(at(3, client).enter())).to.include({ code: 'CLOSED' });
    const mine = stage.client();
    const all = [new Walker(at(2, mine)), new Walker(at(2))];
    await stage.settle();
    all[0]!.leave();
    await stage.settle();
    await mine.close();
    await stage.settle();
    all[1]!.leave();
    await stage.settle();
    expect(where(all)).to.deep.equal(['OWNERSHIP_LOST', 'out']);
  });

  it('leaves no entry when `enter` is aborted at any await', async () => {
    const before = async (mine: MemoryStage): Promise<() => unknown> => {
      const partner = new Walker(at(2, mine.client()));
      await mine.settle();
      return async () => {
        const other = partner.place ? undefined : await at(2, mine.client()).enter();
        partner.leave();
        await other?.leave();
      };
    };
    const attempt = (mine: LockClient, signal: AbortSignal): Promise<RoundMembership> =>
      at(2, mine).enter({ signal });
    const undo = (place: RoundMembership): unknown => place.leave();
    expect(await givenUpAtEveryPoint({ before, attempt, undo })).to.be.above(5);
  });

  it('leaves no entry when `leave` is aborted at any await', async () => {
    const before = async (mine: MemoryStage): Promise<() => unknown> => {
      const partner = new Walker(at(2, mine.client()));
      await mine.settle();
      return () => partner.leave();
    };
    const attempt = async (mine: LockClient, signal: AbortSignal): Promise<void> => {
      const place = await at(2, mine).enter();
      await place.leave({ signal });
    };
    expect(await givenUpAtEveryPoint({ before, attempt })).to.be.above(2);
  });

  it('rejects a member that requires another number of members than the members ahead of it', async () => {
    const all = await walkers(1, 2);
    all.push(...(await walkers(1, 3)), ...(await walkers(1, 2)));
    expect(where(all)).to.deep.equal(['in', 'LIMIT_MISMATCH', 'in']);
  });

  it('does not count plain locks in the queue of the barrier as members', async () => {
    const client = stage.client();
    const reader = await join(client, 'pair', { mode: 'shared' });
    const raw = await join(client, 'pair', { mode: 'shared', value: 'raw' });
    const all = await walkers(1, 2);
    expect(where(all)).to.deep.equal(['waiting']);
    const lock = await join(client, 'pair');
    all.push(...(await walkers(1, 2)));
    expect(where(all)).to.deep.equal(['waiting', 'waiting']);
    lock.leave();
    await stage.settle();
    expect(where(all)).to.deep.equal(['in', 'in']);
    for (const walker of all) walker.leave();
    await stage.settle();
    expect([where(all), stage.server.registerCount]).to.deep.equal([['out', 'out'], 0]);
    reader.leave();
    raw.leave();
  });

  it('rejects invalid options, and a round register whose text another program has written', async () => {
    for (const members of [0, 101, 1.5]) {
      expect(thrownBy(() => at(members))).to.include({ code: 'INVALID_ARGUMENT' });
    }
    const client = stage.client();
    expect(await failureOf(at(2, client).enter({ timeoutMs: 0 }))).to.include({ code: 'INVALID_ARGUMENT' });
    await client.register('pair', 'round').change(() => 'nonsense');
    expect(await failureOf(at(1, client).enter())).to.include({ code: 'INVALID_ARGUMENT' });
    await stage.settle();
    expect([stage.server.entryCount, stage.server.watcherCount]).to.deep.equal([0, 0]);
  });

  it('begins a new round after all members of the previous round have died', async () => {
    await walkers(2);
    expire(0);
    await stage.settle();
    expire(0);
    await stage.settle();
    expect([stage.server.entryCount, stage.server.registerCount]).to.deep.equal([0, 1]);
    expect(where(await walkers(2))).to.deep.equal(['in', 'in']);
  });
});
