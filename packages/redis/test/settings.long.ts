import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import { refusal, signal } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

for (const command of ['EVAL', 'EVALSHA', 'PUBLISH', 'SUBSCRIBE']) {
  describe(`a Redis whose setting rename-command has removed ${command}`, () => {
    const clients = new Clients({ 'rename-command': [command, ''] });

    it('refuses to open a session, with an error that names the command to keep', async () => {
      const { code, message } = await refusal(clients.connect().open(10_000, signal));
      expect(code).to.equal('ACCESS_DENIED');
      expect(message).to.contain('lacks a command that locks need: ');
      expect(message).to.contain('let rename-command or the proxy keep eval, evalsha, publish and subscribe');
    });
  });
}

describe('a user of Redis without INFO', () => {
  const clients = new Clients();

  it('can use locks, and gets a warning from the diagnosis', async () => {
    const rules = ['on', '>secret', '~{queuelock}:*', '&{queuelock}:*', '+@all', '-info'];
    await clients.operator.redis.call('ACL', 'SETUSER', 'app', 'reset', ...rules);
    const backend = clients.connect({ url: `redis://app:secret@${clients.server.endpoint}` });
    await clients.session(backend);
    const found = await backend.diagnose!('');
    expect(found.map(({ level }) => level)).to.deep.equal(['warning', 'ok']);
    expect(found[0]!.text).to.contain('INFO is not allowed here');
  });
});

describe('a Redis that accepts no further connections', () => {
  const clients = new Clients({ maxclients: '4' });

  it('causes an error that advises to raise maxclients', async () => {
    const client = createLockClient(clients.connect());
    const hold = await client.acquire('jobs');
    const backends = Array.from({ length: 4 }, () => clients.connect());
    const opened = await Promise.allSettled(backends.map((backend) => backend.open(10_000, signal)));
    const failures = opened.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as Error] : [],
    );
    expect(failures.map(({ message }) => message).join()).to.contain('raise maxclients');
    const late = createLockClient(clients.connect(), { connectTimeoutMs: 1_000 });
    const { message } = await refusal(late.acquire('jobs'));
    expect(message).to.contain('raise maxclients').and.not.contain('check that the server runs');
    expect(hold.held).to.equal(true);
    await hold.release();
    await Promise.all([client.close(), late.close()]);
  });
});

describe('a Redis whose memory is full', () => {
  const clients = new Clients();

  it('is reported as an error by the diagnosis', async () => {
    const backend = clients.connect();
    await clients.session(backend);
    await clients.operator.redis.config('SET', 'maxmemory', '1');
    const found = await backend.diagnose!('');
    await clients.operator.redis.config('SET', 'maxmemory', '0');
    expect(
      found
        .filter(({ level }) => level === 'error')
        .map(({ text }) => text)
        .join(),
    ).to.match(/^its memory is full \(\d+ of maxmemory 1 bytes\)/);
  });
});
