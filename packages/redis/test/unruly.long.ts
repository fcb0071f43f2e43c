import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { createLockClient, type LockClient } from '@queuelock/core';
import { redis, type RedisOptions } from '@queuelock/redis';
import type { UnrulyCalls } from '@queuelock/harness/unruly';
import { expect } from 'chai';
import {
  holdsWithoutServer,
  survivesEveryScript,
  type UnrulyClient,
} from '@queuelock/harness/unruly-contest';
import { Clients } from './clients.ts';

type Client = NonNullable<RedisOptions['client']>;

const METHODS = {
  ioredis: {
    call: 'async',
    connect: 'async',
    subscribe: 'async',
    unsubscribe: 'async',
    disconnect: 'sync',
    on: 'sync',
  },
  'npm redis': {
    sendCommand: 'async',
    connect: 'async',
    subscribe: 'async',
    unsubscribe: 'async',
    destroy: 'sync',
    on: 'sync',
  },
} as const;

const TTL_MS = 1_500;
const requestTimeoutMs = 200;

describe('a misbehaving Redis client that is passed to redis()', function () {
  this.timeout(600_000);
  const clients = new Clients();
  const honest = (): LockClient =>
    createLockClient(redis({ url: `redis://${clients.server.endpoint}` }), { ttlMs: TTL_MS });

  const libraries: Readonly<Record<keyof typeof METHODS, () => Client>> = {
    ioredis: () => new Redis(`redis://${clients.server.endpoint}`, { lazyConnect: true }),
    'npm redis': () => createClient({ url: `redis://${clients.server.endpoint}` }),
  };
  for (const [library, make] of Object.entries(libraries) as [keyof typeof METHODS, () => Client][]) {
    const unruly = (calls: UnrulyCalls): UnrulyClient => {
      const template = make();
      const duplicate = (overrides?: object): unknown =>
        calls.of(template.duplicate(overrides) as object, METHODS[library]);
      const client = new Proxy(template, {
        get: (target, name) => (name === 'duplicate' ? duplicate : (Reflect.get(target, name) as unknown)),
      });
      return {
        locks: createLockClient(redis({ client, requestTimeoutMs }), { ttlMs: TTL_MS }),
        end: () => Promise.resolve(),
      };
    };

    it(`never lets two clients hold at the same time (${library})`, async () => {
      await survivesEveryScript({ unruly, honest }, { seed: 1, numRuns: 15 });
    });

    it(`does not extend a hold by replies that the server did not send (${library})`, async () => {
      expect(await holdsWithoutServer({ unruly, honest }, [])).to.equal(false);
    });
  }
});
