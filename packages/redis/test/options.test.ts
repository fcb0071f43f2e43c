import { expect } from 'chai';
import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { createLockClient } from '@queuelock/core';
import { fromUrl, redis, type RedisOptions } from '@queuelock/redis';

describe('the URL of a Redis', () => {
  const endpoints: Readonly<Record<string, string>> = {
    'redis:': 'redis://127.0.0.1:6379',
    'redis://locks': 'redis://locks:6379',
    'redis://user:secret@locks:7000/3': 'redis://locks:7000/3',
    'redis://:secret@[::1]:7000': 'redis://[::1]:7000',
    'rediss://user:secret@locks?prefix=team': 'rediss://locks:6379',
  };
  for (const [url, endpoint] of Object.entries(endpoints)) {
    it(`is shown without its password: ${url}`, async () => {
      const backend = fromUrl(url);
      expect(backend.info).to.deep.include({ name: 'redis', authority: 'primary', endpoint });
      await backend.close();
    });
  }

  for (const url of ['redis://a,b', 'redis://user:secret@h/locks', 'http://user:secret@h', 'redis://h/0/1']) {
    it(`is refused with an error that states the format: ${url}`, () => {
      expect(() => fromUrl(url))
        .to.throw('is written redis://user:password@host:port/database')
        .with.property('message')
        .not.contains('secret');
    });
  }

  it('with an unknown parameter is refused', () => {
    expect(() => fromUrl('redis://h?prefx=a')).to.throw('prefx is unknown, did you mean prefix?');
  });

  it('with certificates is refused if a file cannot be read, or if there is a certificate but no key', () => {
    expect(() => fromUrl('rediss://h?ca=/no/such.pem')).to.throw('names a PEM file that can be read');
    expect(() => fromUrl('rediss://h?cert=a.pem')).to.throw('has cert and key together');
  });
});

describe('the options of Redis', () => {
  const wrong: readonly (readonly [about: string, options: unknown, rule: string])[] = [
    ['an unknown one', { uri: 'redis://h' }, 'uri is unknown'],
    ['a prefix with braces', { prefix: '{a}' }, 'prefix is well-formed Unicode'],
    ['an empty prefix', { prefix: '' }, 'prefix is well-formed Unicode'],
    ['no time for a request', { requestTimeoutMs: 0 }, 'requestTimeoutMs is a number of milliseconds'],
    ['no object', 'redis://user:secret@h', 'options of redis must be an object'],
    [
      'a client and a URL',
      { url: 'redis://h', client: createClient() },
      'client is given without url, tls and auth',
    ],
    [
      'a client that is none',
      { client: {} },
      'client is a client of npm redis (version 5 or 6) or a connection',
    ],
    [
      'no PEM',
      { url: 'rediss://h', tls: { ca: 'secret', cert: 'secret', key: 'secret' } },
      'tls.ca is in PEM',
    ],
    ['certificates without TLS', { url: 'redis://h', tls: () => ({}) }, 'begins with rediss://'],
    [
      'a cert without its key',
      { url: 'rediss://h', tls: { cert: 'secret' } },
      'has cert and key together; got "cert"',
    ],
    [
      'a key without its cert',
      { url: 'rediss://h', tls: { key: 'secret' } },
      'has cert and key together; got "key"',
    ],
  ];
  for (const [about, options, rule] of wrong) {
    it(`refuse an invalid value: ${about}`, () => {
      expect(() => redis(options as RedisOptions))
        .to.throw(rule)
        .with.property('message')
        .not.contains('secret@');
    });
  }

  it('refuse a client of a whole cluster, and the error names what to pass instead', () => {
    const cluster = new Cluster(['redis://127.0.0.1:1'], { lazyConnect: true });
    const rule = 'all keys are in one slot, so pass a connection to any node, and redirects are followed';
    expect(() => redis({ client: cluster })).to.throw(rule);
    expect(() => redis({ client: createCluster({ rootNodes: [] }) })).to.throw(rule);
    cluster.disconnect();
  });

  it('refuse maxBlockedMs together with a connection of ioredis, and the error names the option to set instead', async () => {
    const backend = redis({ client: new Redis({ lazyConnect: true }) });
    expect(() => createLockClient(backend, { maxBlockedMs: 30_000 })).to.throw(
      'client beside maxBlockedMs is left out, because no thread can be passed a client: set url instead',
    );
    await backend.close();
  });

  it('refuse a TTL below the minimum', async () => {
    const backend = redis();
    expect(backend.info.minTtlMs).to.equal(200);
    const tooShort = await backend.open(199, new AbortController().signal).catch((error: unknown) => error);
    expect(tooShort).to.have.property('code', 'INVALID_ARGUMENT');
    for (const name of ['', 'a\ud800']) expect(() => backend.checkName(name)).to.throw('queue is');
    await backend.close();
  });

  it("show the address of the caller's client without its password", async () => {
    const clients = [
      redis({ client: new Redis({ host: 'locks', port: 7, db: 2, password: 'secret', lazyConnect: true }) }),
      redis({ client: createClient({ url: 'redis://user:secret@locks:7/2' }) }),
    ];
    for (const { info } of clients) {
      expect(info.endpoint).to.equal('redis://locks:7/2');
    }
    await Promise.all(clients.map((client) => client.close()));
  });
});
