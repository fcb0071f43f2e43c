import { createMemoryServer, memory } from '@queuelock/memory';
import { expect } from 'chai';

describe('an id of an entry of a memory server', () => {
  it('belongs to the session that created the entry, and is refused in another session', async () => {
    const server = createMemoryServer();
    const backend = memory({ server });
    const { signal } = new AbortController();
    const [own, other] = [await backend.open(10_000, signal), await backend.open(10_000, signal)];
    const spec = { queue: 'x', id: '0'.repeat(32), shared: false, limit: 1 };
    expect((await own.enqueue(spec)).turn.admitted).to.equal(true);
    const error: unknown = await other.enqueue(spec).catch((refusal: unknown) => refusal);
    expect(error).to.include({ code: 'ENTRY_LOST' });
    await own.close();
    await other.close();
    await backend.close();
  });

  it('keeps the trace of an evicted hold when a late request uses the id again', async () => {
    const server = createMemoryServer();
    const backend = memory({ server });
    const session = await backend.open(10_000, new AbortController().signal);
    const spec = { queue: 'x', id: '1'.repeat(32), shared: false, limit: 1 };
    const { key } = await session.enqueue(spec);
    await session.traces!.leave('x', spec.id);
    server.evict(key);
    await session.enqueue(spec);
    expect(await session.remove('x', spec.id)).to.equal(true);
    const next = { ...spec, id: '2'.repeat(32) };
    await session.enqueue(next);
    const found = await session.traces!.leave('x', next.id);
    expect(found).to.have.length(1);
    await session.traces!.erase('x', found);
    expect(await session.traces!.leave('x', next.id)).to.deep.equal([]);
    await session.close();
    await backend.close();
  });
});
