import { expect } from 'chai';
import { createMemoryServer, memory, virtualClock } from '@queuelock/memory';

const spec = (id: string, queue = 'q') => ({ queue, id: id.padEnd(32, '0'), shared: false, limit: 1 });

describe('smoke', () => {
  it('works', async () => {
    const clock = virtualClock();
    const server = createMemoryServer({ clock });
    const a = await memory({ server }).open(1000, new AbortController().signal);
    const b = memory({ server, latencyMs: 10 });
    const opening = b.open(1000, new AbortController().signal);
    await clock.advance(10);
    const sb = await opening;
    const pa = await a.enqueue(spec('a'));
    expect(pa.turn.admitted).to.be.true;
    const pending = sb.enqueue(spec('b'));
    await clock.advance(10);
    const pb = await pending;
    const turns: boolean[] = [];
    pb.turns.subscribe({ next: (t) => turns.push(t.admitted), error: () => undefined });
    await clock.advance(500);
    void sb.renew(new AbortController().signal);
    await clock.advance(475);
    expect(turns).to.deep.equal([false]);
    await clock.advance(30);
    expect(turns).to.deep.equal([false, true]);
    expect(server.entryCount).to.equal(1);
    expect(server.wakeUps).to.equal(1);
    expect(server.watcherCount).to.equal(1);
  });
});
