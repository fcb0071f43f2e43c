import { expect } from 'chai';
import { createMemoryServer, memory, virtualClock } from '@queuelock/memory';
import { codeOf, openSession, recordTurns, newSpec } from './actors.ts';

describe('evicting from a queue of a memory server', () => {
  const server = createMemoryServer({ clock: virtualClock() });
  const backend = memory({ server });

  afterEach(() => {
    server.close();
  });

  it('removes the entry with the given key and order number, and admits the next entry', async () => {
    const session = await openSession(backend);
    const { key, order, turns$ } = await session.enqueue(newSpec());
    const turns = recordTurns(turns$);
    const next = recordTurns((await session.enqueue(newSpec())).turns$);
    expect(await backend.evict!('q', { key, order: order + 1n })).to.equal(false);
    expect(await backend.evict!('q', { key, order })).to.equal(true);
    expect(turns.seen).to.deep.equal([true, 'ENTRY_LOST']);
    expect(next.seen).to.deep.equal([false, true]);
    expect(await backend.evict!('q', { key, order })).to.equal(false);
    next.stop();
  });

  it('refuses the key of an entry in another queue, even in a nested one (q/deeper below q)', async () => {
    const session = await openSession(backend);
    for (const queue of ['other', 'q/deeper']) {
      const entry = await session.enqueue(newSpec({ queue }));
      expect(await codeOf(backend.evict!('q', entry))).to.equal('INVALID_ARGUMENT');
    }
    expect(await codeOf(backend.evict!('q', { key: 'q', order: 1n }))).to.equal('INVALID_ARGUMENT');
    expect(server.entryCount).to.equal(2);
  });

  it('keeps the trace of the evicted hold, which the next holder receives', async () => {
    const session = await openSession(backend);
    const [victim, next] = [newSpec(), newSpec()];
    const entry = await session.enqueue(victim);
    await session.traces!.leave('q', victim.id);
    await session.enqueue(next);
    await backend.evict!('q', entry);
    expect(await session.traces!.leave('q', next.id)).to.have.length(1);
  });
});
