import { expect } from 'chai';
import { QueueLockError, type EntrySpec } from '@queuelock/core/backend';
import { createMemoryServer, memory, virtualClock } from '@queuelock/memory';
import { codeOf, openSession, recordTurns, newSpec } from './actors.ts';

function specsFor(...queues: readonly string[]): readonly EntrySpec[] {
  return queues.map((queue) => newSpec({ queue }));
}

describe('one call that enters several queues of a memory server', () => {
  const server = createMemoryServer({ clock: virtualClock() });
  const backend = memory({ server });

  afterEach(() => {
    server.close();
  });

  it('is atomic: a later entry is behind the entries of the call in all queues', async () => {
    const [one, two] = [await openSession(backend), await openSession(backend)];
    await Promise.all([one.enqueueAll!(specsFor('a', 'b')), two.enqueueAll!(specsFor('b', 'a'))]);
    const owners = [...server.queues().values()].map((entries) => entries.map(({ sessionId }) => sessionId));
    expect(owners).to.deep.equal([
      [one.id, two.id],
      [one.id, two.id],
    ]);
  });

  it('returns the keys and turns of the entries in the order of the requested queues', async () => {
    const session = await openSession(backend);
    const specs = specsFor('b', 'a');
    const keys = (await session.enqueueAll!(specs)).map(({ key }) => key);
    expect(keys.map((key) => key[0])).to.deep.equal(['b', 'a']);
    expect((await session.enqueueAll!(specs)).map(({ key }) => key)).to.deep.equal(keys);
    expect(await session.enqueueAll!([])).to.deep.equal([]);
    expect(server.entryCount).to.equal(2);
  });

  it('rejects, when repeated after one entry was evicted, and removes the other entries of the call', async () => {
    const session = await openSession(backend);
    const specs = specsFor('a', 'b');
    const [a, b] = await session.enqueueAll!(specs);
    const turns = recordTurns(b!.turns$);
    server.evict(a!.key);
    expect(await codeOf(session.enqueueAll!(specs))).to.equal('ENTRY_LOST');
    expect(turns.seen).to.deep.equal([true, 'ENTRY_LOST']);
    expect(server.entryCount).to.equal(0);
  });

  it('refuses two entries of one queue, and adds no entry', async () => {
    const session = await openSession(backend);
    const refusal = session.enqueueAll!(specsFor('a', 'b', 'a'));
    expect(await codeOf(refusal)).to.equal('INVALID_ARGUMENT');
    expect(server.entryCount).to.equal(0);
  });

  it('rejects if the request arrives after the removal of one of its entries', async () => {
    const late: (() => Promise<unknown>)[] = [];
    let lost = false;
    const far = memory({
      server,
      intercept: async (call, proceed) => {
        if (call !== 'enqueueAll' || !lost) return proceed();
        late.push(proceed);
        throw new QueueLockError('UNAVAILABLE', 'no answer');
      },
    });
    const session = await openSession(far);
    const entered = specsFor('a', 'b');
    await session.enqueueAll!(entered);
    lost = true;
    const fresh = specsFor('c', 'd');
    for (const specs of [entered, fresh]) {
      await codeOf(session.enqueueAll!(specs));
      await session.remove(specs[1]!.queue, specs[1]!.id);
    }
    for (const arrive of late) expect(await codeOf(arrive())).to.equal('ENTRY_LOST');
    expect(server.entryCount).to.equal(0);
  });
});
