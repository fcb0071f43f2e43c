import { expect } from 'chai';
import type { EntrySpec } from '@queuelock/core/backend';
import { createMemoryServer, memory, virtualClock } from '@queuelock/memory';
import { openSession, recordTurns, newSpec } from './actors.ts';

describe('permits of a memory server', () => {
  const server = createMemoryServer({ clock: virtualClock() });
  const backend = memory({ server });

  /** Returns for each entry of the queue `q`, in order, whether it is admitted. */
  const admitted = (): readonly boolean[] => (server.queues().get('q') ?? []).map((entry) => entry.admitted);

  async function enterAll(...specParts: readonly Partial<EntrySpec>[]): Promise<{
    remove(place: number): Promise<boolean>;
    resize(place: number, limit: number): Promise<boolean>;
  }> {
    const session = await openSession(backend);
    const specs = specParts.map((one) => newSpec(one));
    for (const spec of specs) await session.enqueue(spec);
    return {
      remove: (place) => session.remove('q', specs[place]!.id),
      resize: async (place, limit) => (await session.enqueue({ ...specs[place]!, limit })).turn.admitted,
    };
  }

  afterEach(() => {
    server.close();
  });

  it('decide an admission by their sum over the entry and all conflicting entries ahead', async () => {
    const line = await enterAll(
      { limit: 5, permits: 3 },
      { limit: 5, permits: 4 },
      { limit: 5 },
      { limit: 5, permits: 5 },
    );
    expect(admitted()).to.deep.equal([true, false, false, false]);
    await line.remove(0);
    expect(admitted()).to.deep.equal([true, true, false]);
    await line.remove(1);
    await line.remove(2);
    expect(admitted()).to.deep.equal([true]);
  });

  it('are stored for each entry, with 1 as the default', async () => {
    await enterAll({ limit: 5, permits: 3 }, { limit: 5 });
    expect(
      server
        .queues()
        .get('q')
        ?.map(({ permits }) => permits),
    ).to.deep.equal([3, 1]);
  });

  it('are not taken by `tryEnqueue` when too few are free', async () => {
    const session = await openSession(backend);
    const two = { limit: 3, permits: 2 };
    expect((await session.tryEnqueue(newSpec(two)))?.turn.admitted).to.equal(true);
    expect(await session.tryEnqueue(newSpec(two))).to.equal(undefined);
    expect((await session.tryEnqueue(newSpec({ limit: 3 })))?.turn.admitted).to.equal(true);
    expect(admitted()).to.deep.equal([true, true]);
  });

  it('become free for a waiter that is enqueued again with a higher limit', async () => {
    const line = await enterAll({}, { limit: 1 }, { limit: 1 });
    expect(await line.resize(2, 2)).to.equal(false);
    expect(await line.resize(1, 2)).to.equal(true);
    expect(admitted()).to.deep.equal([true, true, false]);
    expect(
      server
        .queues()
        .get('q')
        ?.map(({ limit }) => limit),
    ).to.deep.equal([1, 2, 2]);
    await line.remove(0);
    expect(admitted()).to.deep.equal([true, true]);
  });

  it('become fewer for waiters when the limit is lowered, and admitted entries stay admitted', async () => {
    const line = await enterAll({ limit: 2 }, { limit: 2 }, { limit: 2 });
    expect(await line.resize(1, 1)).to.equal(true);
    expect(await line.resize(2, 1)).to.equal(false);
    await line.remove(0);
    expect(admitted()).to.deep.equal([true, false]);
    await line.remove(1);
    expect(admitted()).to.deep.equal([true]);
  });

  it('become free for an entry whose limit is raised', async () => {
    const session = await openSession(backend);
    const waiter = newSpec();
    await session.enqueue(newSpec());
    const before = recordTurns((await session.enqueue(waiter)).turns$);
    const after = recordTurns((await session.enqueue({ ...waiter, limit: 2 })).turns$);
    expect(before.seen).to.deep.equal([false, true]);
    expect(after.seen).to.deep.equal([true]);
    before.stop();
    after.stop();
  });

  it('may have different limits in one queue: an enqueue returns the nearest different limit ahead', async () => {
    const session = await openSession(backend);
    const otherLimits: (number | undefined)[] = [];
    for (const spec of [{ limit: 3 }, { limit: 4 }, { limit: 3 }, { limit: 3, shared: true }, { limit: 3 }]) {
      otherLimits.push((await session.enqueue(newSpec(spec))).otherLimit);
    }
    expect(otherLimits).to.deep.equal([undefined, 3, 4, undefined, 4]);
  });
});
