import { expect } from 'chai';
import { createMemoryServer, memory, virtualClock } from '@queuelock/memory';
import { codeOf, openSession, record, recordTurns, newSpec } from './actors.ts';

describe('making an entry of a memory server shared', () => {
  const server = createMemoryServer({ clock: virtualClock() });
  const backend = memory({ server });

  afterEach(() => {
    server.close();
  });

  it('admits the readers behind that entry, up to the next writer, before the call returns', async () => {
    const session = await openSession(backend);
    const specs = [newSpec(), newSpec({ shared: true }), newSpec(), newSpec({ shared: true })] as const;
    for (const spec of specs) await session.enqueue(spec);
    const [key] = server
      .queues()
      .get('q')!
      .map((entry) => entry.key);
    void session.share!('q', specs[0].id, 'reads');
    const [sharer, ...behind] = server.queues().get('q')!;
    expect(sharer).to.include({ key, shared: true, value: 'reads' });
    expect(behind.map(({ admitted }) => admitted)).to.deep.equal([true, false, false]);
    await session.remove('q', specs[0].id);
    await session.remove('q', specs[1].id);
    expect(
      server
        .queues()
        .get('q')!
        .map(({ admitted }) => admitted),
    ).to.deep.equal([true, false]);
  });

  it('may be repeated without another notification', async () => {
    const session = await openSession(backend);
    const [holder, reader] = [newSpec(), newSpec({ shared: true })];
    await session.enqueue(holder);
    const turns = recordTurns((await session.enqueue(reader)).turns$);
    expect(await session.share!('q', holder.id, 'once')).to.equal(true);
    const { wakeUps } = server;
    expect(await session.share!('q', holder.id, 'twice')).to.equal(true);
    expect(server.wakeUps).to.equal(wakeUps);
    expect(turns.seen).to.deep.equal([false, true]);
    turns.stop();
  });

  it('is reported to observers as one change', async () => {
    const session = await openSession(backend);
    const holder = newSpec({ value: 'writes' });
    await session.enqueue(holder);
    const snapshots = record(backend.observe('q'));
    await session.share!('q', holder.id, 'reads');
    const seen = snapshots.seen.map((snapshot) => (typeof snapshot === 'string' ? [] : snapshot));
    expect(seen.map(([entry]) => [entry?.shared, entry?.value])).to.deep.equal([
      [false, 'writes'],
      [true, 'reads'],
    ]);
    snapshots.stop();
  });

  it('returns false if the entry does not exist, and rejects if the session is lost', async () => {
    const session = await openSession(backend);
    expect(await session.share!('q', newSpec().id, '')).to.equal(false);
    await session.close();
    expect(await codeOf(session.share!('q', newSpec().id, ''))).to.equal('SESSION_LOST');
  });
});
