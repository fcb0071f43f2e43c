import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createClient, createSentinel, type RedisClientOptions } from 'redis';
import { createLockClient, isQueueLockError } from '@queuelock/core';
import { redis, type RedisOptions } from '@queuelock/redis';
import { sharedRedis } from '@queuelock/harness/services';
import { refusal, signal } from '@queuelock/harness/specs';
import { FakeIoRedis, FakeNodeRedis, METHODS } from './fake-clients.ts';

type Client = NonNullable<RedisOptions['client']>;

const offline = { lazyConnect: true, host: '127.0.0.1', port: 1 } as const;

describe('a client that is passed to redis()', () => {
  const refused: readonly (readonly [what: string, client: () => object, message: string])[] = [
    [
      'an ioredis connection with a keyPrefix',
      () => new Redis({ ...offline, keyPrefix: 'prod:' }),
      'option keyPrefix of client must be empty: programs with different key prefixes would share one queue',
    ],
    [
      'a client of npm redis with a keyPrefix',
      () => createClient({ keyPrefix: 'prod:' }),
      'option keyPrefix of client must be empty',
    ],
    [
      'a client of npm redis whose keyPrefix is a buffer',
      () => createClient({ keyPrefix: Buffer.from('prod:') }),
      'got "prod:"',
    ],
    [
      'an ioredis connection to a replica',
      () =>
        new Redis({ ...offline, sentinels: [{ host: '127.0.0.1', port: 1 }], name: 'locks', role: 'slave' }),
      'option role of client must be "master"',
    ],
    [
      'a client without destroy(), as of npm redis 4',
      () => Object.assign(new FakeNodeRedis(), { destroy: undefined }),
      'client is a client of npm redis (version 5 or 6) or a connection of ioredis (version 5 or 6), which has destroy(); got "an object without destroy()"',
    ],
    [
      'a connection of ioredis 4',
      () => Object.assign(new FakeIoRedis(), { options: { dropBufferSupport: false } }),
      'got "a connection of ioredis 4"',
    ],
    [
      'a Sentinel client of npm redis',
      () => createSentinel({ name: 'locks', sentinelRootNodes: [] }),
      'is not a Sentinel client of npm redis',
    ],
    [
      'a client that throws when its options are read',
      () =>
        Object.defineProperty(new FakeIoRedis(), 'options', {
          get() {
            throw new TypeError('no options here');
          },
        }),
      'client can be inspected without an error; got "TypeError: no options here"',
    ],
  ];
  for (const [what, client, message] of refused) {
    it(`is refused with INVALID_ARGUMENT when it is unsuitable: ${what}`, () => {
      expect(() => redis({ client: client() as Client }))
        .to.throw(message)
        .with.property('code', 'INVALID_ARGUMENT');
    });
  }

  it('is refused when select() has chosen another database than its option db', async () => {
    const { endpoint } = await sharedRedis('a client that is handed in to redis()');
    const client = new Redis(`redis://${endpoint}`);
    await client.select(3);
    expect(() => redis({ client }))
      .to.throw('option db of client must be 3')
      .with.property('code', 'INVALID_ARGUMENT');
    client.disconnect();
  });

  const ioredisOptions: readonly object[] = [
    { stringNumbers: true },
    { enableAutoPipelining: true },
    { readOnly: true },
    { monitor: true },
    { enableOfflineQueue: false },
    { commandTimeout: 1e-3 },
    { db: 1 },
  ];
  for (const options of ioredisOptions) {
    it(`can acquire a free lock when it is an ioredis client with the options ${JSON.stringify(options)}`, async () => {
      const { endpoint } = await sharedRedis('a client that is handed in to redis()');
      await expectFreeLock(new Redis(`redis://${endpoint}`, { ...options, lazyConnect: true }));
    });
  }

  const nodeRedisOptions: Readonly<Record<string, RedisClientOptions>> = {
    'a typeMapping of numbers': { commandOptions: { typeMapping: { 58: String } } },
    'a typeMapping of texts to buffers': { commandOptions: { typeMapping: { 36: Buffer, 43: Buffer } } },
    'an aborted abortSignal': { commandOptions: { abortSignal: AbortSignal.abort() } },
    'RESP 3 and a clientSideCache': {
      RESP: 3,
      clientSideCache: { ttl: 0, maxEntries: 0, evictPolicy: 'LRU' },
    },
    'RESP 3 and emitInvalidate': { RESP: 3, emitInvalidate: true },
    'a queue of one command': { commandsQueueMaxLength: 1 },
    readonly: { readonly: true },
    'another database': { database: 1 },
  };
  for (const [what, options] of Object.entries(nodeRedisOptions)) {
    it(`can acquire a free lock when it is a client of npm redis with ${what}`, async () => {
      const { endpoint } = await sharedRedis('a client that is handed in to redis()');
      await expectFreeLock(createClient({ ...options, url: `redis://${endpoint}` }));
    });
  }

  for (const Fake of [FakeIoRedis, FakeNodeRedis]) {
    it(`is refused when it is a ${Fake.library} client that changes replies`, async () => {
      const client = new Fake({ reply: (reply) => (Array.isArray(reply) ? reply.map(String) : reply) });
      const backend = redis({ client });
      const { code, message } = await refusal(backend.open(10_000, signal));
      expect(code).to.equal('INVALID_ARGUMENT');
      expect(message).to.contain('client returns replies as the server sent them');
      await backend.close();
    });

    it(`is used for a new connection when messages arrive as buffers instead of strings (${Fake.library})`, async () => {
      const client = new Fake();
      const backend = redis({ client });
      await backend.open(10_000, signal);
      const before = client.made.length;
      for (const made of [...client.made]) made.publish('{queuelock}:look', Buffer.from('x'));
      await backend.open(10_000, signal);
      while (client.made.length === before) await new Promise(setImmediate);
      await backend.close();
    });

    for (const method of METHODS[Fake.library]) {
      for (const phase of ['at once', 'later'] as const) {
        it(`causes no uncaught exception when ${method}() of ${Fake.library} fails ${phase}`, async () => {
          const client = new Fake({ failing: method, phase });
          const backend = redis({ client, requestTimeoutMs: 50 });
          const opened = await backend.open(10_000, signal).catch((error: unknown) => error);
          if (opened instanceof Error) expect(isQueueLockError(opened), String(opened)).to.equal(true);
          client.breakAll();
          await backend.close();
          await new Promise(setImmediate);
        });
      }
    }

    for (const garbage of [[], '', [7], ['later'], {}, 7, null]) {
      it(`confirms no heartbeat when the reply is malformed: ${JSON.stringify(garbage)} (${Fake.library})`, async () => {
        let isBroken = false;
        const backend = redis({ client: new Fake({ reply: (reply) => (isBroken ? garbage : reply) }) });
        const session = await backend.open(10_000, signal);
        isBroken = true;
        expect(await refusal(session.renew(signal))).to.have.property('code', 'UNAVAILABLE');
        await session.close();
        await backend.close();
      });
    }

    it(`causes no uncaught exception when connecting never ends and closing throws (${Fake.library})`, async () => {
      const client = new Fake({ failing: Fake.closes, phase: 'at once', connects: false });
      const backend = redis({ client, requestTimeoutMs: 20 });
      expect(await refusal(backend.open(10_000, signal))).to.have.property('code', 'UNAVAILABLE');
      await backend.close();
      await new Promise(setImmediate);
    });
  }
});

async function expectFreeLock(client: Client): Promise<void> {
  const locks = createLockClient(redis({ client, prefix: 'handed-in' }));
  const hold = await locks.tryAcquire('free');
  expect(hold?.held).to.equal(true);
  await locks.close();
}
