import { expect } from 'chai';
import { Redis } from 'ioredis';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from 'redis';
import type { Backend } from '@queuelock/core/backend';
import { redis } from '@queuelock/redis';
import { startRedis } from '@queuelock/harness/services';
import { pickPorts } from '@queuelock/harness/services/ports';
import { admitted, refusal, signal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

/** Expects that the client `other` waits while the client `one` holds, and that `other` is admitted after the release. */
async function expectHandOff(one: Backend, other: Backend): Promise<void> {
  const [holder, waiter] = [await one.open(10_000, signal), await other.open(10_000, signal)];
  const held = newSpec();
  await holder.enqueue(held);
  const turn = admitted(await waiter.enqueue(newSpec()));
  await holder.remove('jobs', held.id);
  await turn;
  await Promise.all([holder.close(), waiter.close()]);
}

describe('access to a Redis with users', () => {
  const clients = new Clients();
  const rules = ['on', '>secret', '~{queuelock}:*', '&{queuelock}:*', '+@all', '-@dangerous'];

  before(() => clients.operator.redis.config('SET', 'requirepass', 'operator'));

  it('is granted with the right password, and refused with ACCESS_DENIED without it', async () => {
    const { endpoint } = clients.server;
    for (const url of [`redis://${endpoint}`, `redis://:wrong@${endpoint}`]) {
      const { code, message } = await refusal(clients.connect({ url }).open(10_000, signal));
      expect(code).to.equal('ACCESS_DENIED');
      expect(message).to.not.contain('wrong@');
    }
  });

  it('needs permissions only for the keys and channels of the prefix', async () => {
    const { endpoint } = clients.server;
    await clients.operator.redis.call('ACL', 'SETUSER', 'worker', ...rules);
    const url = `redis://worker:secret@${endpoint}`;
    await expectHandOff(clients.connect({ url }), clients.connect({ url }));
  });

  it('is refused at the opening of a session when permissions for the channels are missing', async () => {
    const { endpoint } = clients.server;
    await clients.operator.redis.call(
      'ACL',
      'SETUSER',
      'deaf',
      ...rules.filter((rule) => !rule.startsWith('&')),
      'resetchannels',
    );
    const { code, message } = await refusal(
      clients.connect({ url: `redis://deaf:secret@${endpoint}` }).open(10_000, signal),
    );
    expect(code).to.equal('ACCESS_DENIED');
    expect(message).to.not.contain('secret');
  });
});

describe('a client that is passed to redis()', () => {
  const clients = new Clients();

  it('from npm redis shares a queue with a client from ioredis, and neither client is connected', async () => {
    const [host = '', port] = clients.server.endpoint.split(':');
    const theirs = createClient({ url: `redis://${clients.server.endpoint}` });
    const others = new Redis({ host, port: Number(port), lazyConnect: true });
    const [one, other] = [clients.connect({ client: theirs }), clients.connect({ client: others })];
    await expectHandOff(one, other);
    await expectHandOff(other, one);
    await expectHandOff(clients.connect(), other);
    expect([theirs.isOpen, others.status]).to.deep.equal([false, 'wait']);
  });

  it('causes an error with the address of its server when it cannot connect', async () => {
    const client = new Redis({ host: '127.0.0.1', port: 1, lazyConnect: true });
    const { code, message } = await refusal(clients.connect({ client }).open(10_000, signal));
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.contain('redis://127.0.0.1:1: connect ECONNREFUSED');
  });
});

describe('a Redis with TLS', () => {
  it('can be reached by a rediss: URL only with the certificate of the server', async function () {
    const directory = await mkdtemp(join(tmpdir(), 'queuelock-tls-'));
    const [cert, key] = [join(directory, 'server.pem'), join(directory, 'server.key')];
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const made = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert];
    await promisify(execFile)('openssl', ['req', '-x509', ...made, ...subject]).catch(() => {
      this['skipReason'] = 'needs openssl';
      this.skip();
    });
    const [tlsPort = 0] = await pickPorts(1);
    const tls = {
      'tls-port': String(tlsPort),
      'tls-cert-file': cert,
      'tls-key-file': key,
      'tls-ca-cert-file': cert,
    };
    const server = await startRedis({ way: 'process', settings: { ...tls, 'tls-auth-clients': 'no' } });
    const url = `rediss://127.0.0.1:${tlsPort}`;
    const given = redis({ url, tls: { ca: await readFile(cert, 'utf8') } });
    const backends = [redis({ url: `${url}?ca=${cert}` }), given] as const;
    const without = redis({ url });
    try {
      await expectHandOff(...backends);
      expect(await refusal(without.open(10_000, signal))).to.have.property('code', 'UNAVAILABLE');
    } finally {
      await Promise.all([...backends, without].map((backend) => backend.close()));
      await server.stop();
      await rm(directory, { recursive: true });
    }
  });
});
