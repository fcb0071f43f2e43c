import { Redis } from 'ioredis';
import { describeBackend } from '@queuelock/conformance';
import { redis } from '@queuelock/redis';
import { sharedRedis } from '@queuelock/harness/services';
import { harness } from './harness.ts';

describe('@queuelock/redis over a connection of ioredis', () => {
  describeBackend({
    ...harness('ioredis'),
    expiryGranularityMs: 8_000,
    atOnce: 4,
    connect: async () => {
      const [host = '', port] = (await sharedRedis('conformance over ioredis')).endpoint.split(':');
      const client = new Redis({ host, port: Number(port), lazyConnect: true });
      return redis({ client, prefix: 'ioredis' });
    },
  });
});
