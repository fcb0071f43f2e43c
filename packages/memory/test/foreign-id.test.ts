import { createMemoryServer, memory } from '@queuelock/memory';
import { expect } from 'chai';

describe('an id of an entry of a memory server', () => {
  it('is of the session that made the entry: another one does not get its place', async () => {
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
});
