import { expect } from 'chai';
import { redis } from '@queuelock/redis';
import { refusal, signal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

describe('keys on Redis that other programs have written', () => {
  const clients = new Clients();
  const keyOf = (name: string): string => clients.operator.key(name);

  beforeEach(() => clients.empty());

  for (const name of ['line', 'exclusive', 'waiting', 'entries', 'traces']) {
    it(`make an enqueue fail, and stay unchanged, when they have the name of a queue key: ${name}`, async () => {
      const session = await clients.session();
      await clients.operator.redis.set(keyOf(`${name}:jobs`), 'mine');
      const { code, message } = await refusal(session.enqueue(newSpec()));
      expect(code).to.equal('FOREIGN_FORMAT');
      expect(message).to.contain(`the key "${keyOf(`${name}:jobs`)}" was not written by queuelock`);
      expect(message).to.contain('(string); nothing was changed');
      expect(await refusal(session.tryEnqueue(newSpec()))).to.have.property('code', 'FOREIGN_FORMAT');
      expect(await clients.operator.redis.get(keyOf(`${name}:jobs`))).to.equal('mine');
      expect((await session.enqueue(newSpec({ queue: 'other' }))).turn.admitted).to.equal(true);
    });
  }

  it('make an enqueue fail when they are sorted sets under the key of the queue entries', async () => {
    const session = await clients.session();
    await clients.operator.redis.zadd(keyOf('line:jobs'), 7, 'mine');
    expect(await refusal(session.enqueue(newSpec()))).to.have.property('code', 'FOREIGN_FORMAT');
    expect(await clients.operator.redis.zscore(keyOf('line:jobs'), 'mine')).to.equal('7');
  });

  for (const name of ['meta', 'sessions', 'queues']) {
    it(`make the opening of a session fail when they have the name of a store key: ${name}`, async () => {
      await clients.operator.redis.set(keyOf(name), 'mine');
      const { code, message } = await refusal(clients.connect().open(10_000, signal));
      expect(code).to.equal('FOREIGN_FORMAT');
      expect(message).to.contain(`the key "${keyOf(name)}"`);
      expect(await clients.operator.redis.get(keyOf(name))).to.equal('mine');
    });
  }

  it('make reads and writes of a register fail when they have the name of its key', async () => {
    await clients.operator.redis.set(keyOf('register:jobs'), 'mine');
    const { registers } = clients.connect();
    expect(await refusal(registers!.read('jobs', 'notes'))).to.have.property('code', 'FOREIGN_FORMAT');
    const change = { text: 'ours', was: undefined };
    expect(await refusal(registers!.write('jobs', 'notes', change))).to.have.property(
      'code',
      'FOREIGN_FORMAT',
    );
    expect(await clients.operator.redis.get(keyOf('register:jobs'))).to.equal('mine');
  });

  it('do not block clients in other queues when they replace the entries of an expired session', async () => {
    const dying = await clients.session();
    await dying.enqueue(newSpec());
    await clients.operator.redis.set(keyOf('line:jobs'), 'mine');
    await clients.operator.redis.zadd(keyOf('sessions'), '0', dying.id);
    const session = await clients.session();
    expect((await session.enqueue(newSpec({ queue: 'other' }))).turn.admitted).to.equal(true);
    expect(await clients.operator.redis.get(keyOf('line:jobs'))).to.equal('mine');
  });

  it('are refused if they have the format of a later release of queuelock', async () => {
    await (await clients.session()).renew(signal);
    await clients.operator.redis.hset(keyOf('meta'), 'format', '99');
    const { code, message } = await refusal(clients.connect().open(10_000, signal));
    expect(code).to.equal('FOREIGN_FORMAT');
    expect(message).to.contain('of another release of it (format-99)');
    await clients.empty();
  });

  it('do not matter to a client with another prefix', async () => {
    await clients.operator.redis.set(keyOf('meta'), 'mine');
    const backend = redis({ url: `redis://${clients.server.endpoint}?prefix=team` });
    const session = await backend.open(10_000, signal);
    expect((await session.enqueue(newSpec())).key).to.match(/^\{team\}:line:jobs\/\d+$/);
    await session.close();
    await backend.close();
  });
});
