import { createLockClient, type LockClient, type QueuesState } from '@queuelock/core';
import { createMemoryServer, memory, virtualClock } from '@queuelock/memory';
import { expect } from 'chai';

describe('a client’s view of a store in memory', () => {
  const clients: LockClient[] = [];
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

  function clientOf(backend = memory()): LockClient {
    const client = createLockClient(backend, { owner: 'me' });
    clients.push(client);
    return client;
  }

  it('lists queues by name, and emits the list again after entries changed', async () => {
    const clock = virtualClock();
    const client = clientOf(memory({ server: createMemoryServer({ clock }) }));
    const seen: QueuesState[] = [];
    const ended = new Promise<void>((resolve) => {
      client.queues('a').subscribe({ next: (state) => seen.push(state), complete: resolve });
    });
    const [b, a] = [await client.acquire('a/b'), await client.acquire('a/a')];
    await client.acquire('b');
    await clock.advance(20);
    await a.release();
    await clock.advance(20);
    expect(seen.map(({ status, queues }) => [status, ...queues.map(({ name }) => name)])).to.deep.equal([
      ['connecting'],
      ['live'],
      ['live', 'a/a', 'a/b'],
      ['live', 'a/b'],
    ]);
    expect(seen.at(-1)!.queues[0]).to.deep.equal({ name: 'a/b', depth: 1, front: b.order, left: 0 });
    await client.close();
    await ended;
  });

  it('unsubscribes from the server when the last observer unsubscribes', async () => {
    const server = createMemoryServer();
    const client = clientOf(memory({ server }));
    const watch = client.queues().subscribe(() => undefined);
    expect(server.watcherCount).to.equal(1);
    watch.unsubscribe();
    expect(server.watcherCount).to.equal(0);
  });

  it('returns a history of the present entries, and the token of an entry', async () => {
    const client = clientOf();
    const ownership = await client.acquire('a');
    const { before, changes, gaps } = await client.history('a');
    expect({ before, count: gaps.length }).to.deep.equal({ before: [], count: 1 });
    expect(changes.map(({ kind, entry: { owner } }) => `${kind} ${owner}`)).to.deep.equal([
      'joined me',
      'granted me',
    ]);
    expect(await client.tokenOf('a', ownership)).to.equal(ownership.token);
    expect((await client.diagnose()).map(({ level }) => level)).to.deep.equal(['ok']);
  });

  it('rejects calls of queues() and history() when the backend lacks these methods', async () => {
    const lacking = { ...memory() };
    for (const member of ['queues', 'history']) Reflect.deleteProperty(lacking, member);
    const client = clientOf(lacking);
    expect(() => client.queues())
      .to.throw()
      .with.property('code', 'INVALID_ARGUMENT');
    expect(await client.history('a').catch((error: unknown) => error)).to.have.property(
      'code',
      'INVALID_ARGUMENT',
    );
  });

  it('rejects calls with CLOSED after the client is closed', async () => {
    const client = clientOf();
    await client.close();
    for (const requested of [
      client.history('a'),
      client.diagnose(),
      client.tokenOf('a', { key: 'a/1', order: 1n }),
    ])
      expect(await requested.catch((error: unknown) => error)).to.have.property('code', 'CLOSED');
  });
});
