import { expect } from 'chai';
import { wordOf } from '../src/driver/errors.ts';
import { admitted, refusal, signal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

describe('a Redis whose memory is full', () => {
  const clients = new Clients({ 'maxmemory-policy': 'noeviction' });

  afterEach(() => clients.operator.redis.config('SET', 'maxmemory', '0'));

  it('lets holders renew and release, and admits the waiters', async () => {
    const [holder, waiter] = [await clients.session(), await clients.session()];
    const held = newSpec();
    await holder.enqueue(held);
    const turn = admitted(await waiter.enqueue(newSpec()));
    await clients.operator.redis.config('SET', 'maxmemory', '1');
    const { code, message } = await refusal(holder.enqueue(newSpec()));
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.contain('the memory of the server is full (maxmemory)');
    await holder.renew(signal);
    await holder.remove('jobs', held.id);
    await turn;
  });

  it('removes entries of expired sessions', async () => {
    const [dying, waiter] = [await clients.session(), await clients.session()];
    await dying.enqueue(newSpec());
    const turn = admitted(await waiter.enqueue(newSpec()));
    await clients.operator.redis.zadd(clients.operator.key('sessions'), '0', dying.id);
    await clients.operator.redis.config('SET', 'maxmemory', '1');
    await waiter.renew(signal);
    await turn;
  });
});

describe('a user of Redis without all permissions', () => {
  const clients = new Clients();
  const rules = ['on', '>secret', '~{queuelock}:*', '&{queuelock}:*', '+@all', '-@dangerous'];

  async function connected(name: string, ...own: readonly string[]): ReturnType<typeof refused> {
    await clients.operator.redis.call('ACL', 'SETUSER', name, 'reset', ...rules, ...own);
    return refused(name);
  }

  function refused(name: string): Promise<{ readonly code: string; readonly message: string }> {
    const url = `redis://${name}:secret@${clients.server.endpoint}`;
    return refusal(clients.connect({ url }).open(10_000, signal));
  }

  it('is refused when a session is opened, so that no later request can fail halfway', async () => {
    expect(await connected('lacks-command', '-zrangebyscore')).to.include({ code: 'ACCESS_DENIED' });
    const withoutChannels = ['resetchannels', '&{queuelock}:inbox:*', '&{queuelock}:look'];
    const { code, message } = await connected('lacks-channel', ...withoutChannels);
    expect(code).to.equal('ACCESS_DENIED');
    expect(message).to.contain('PUBLISH {queuelock}:queue:');
    const some = ['resetkeys', '~{queuelock}:meta', '~{queuelock}:session*', '~{queuelock}:line:*'];
    expect(await connected('lacks-key', ...some)).to.include({ code: 'ACCESS_DENIED' });
  });

  it('gets an error when it observes a queue whose channel is denied', async () => {
    const { redis } = clients.operator;
    const channels = ['resetchannels', '&{queuelock}:inbox:*', '&{queuelock}:look'];
    await redis.call('ACL', 'SETUSER', 'looks', 'reset', ...rules, ...channels);
    const backend = clients.connect({ url: `redis://looks:secret@${clients.server.endpoint}` });
    const failed = new Promise((resolve) => {
      backend.observe('jobs').subscribe({ error: resolve });
    });
    expect(String(await failed)).to.contain('NOPERM');
  });
});

describe('the error code in a message of Redis', () => {
  for (const [message, word] of [
    ['READONLY You can’t write against a read only replica.', 'READONLY'],
    ['@user_script: 12: -READONLY You can’t write against a read only replica.', 'READONLY'],
    ['ERR NOPERM this user may not', 'NOPERM'],
    ['ERR unknown command', 'ERR'],
    ['The client is closed', ''],
  ] as const) {
    it(`is parsed from ${JSON.stringify(message)} as ${JSON.stringify(word)}`, () => {
      expect(wordOf(new Error(message))).to.equal(word);
    });
  }
});
