import { Redis } from 'ioredis';
import { Redis as Redis6 } from 'ioredis-6';
import { createClient } from 'redis';
import { createClient as createClient5 } from 'redis-5';
import { describeBackend } from '@queuelock/conformance';
import { redis, type RedisOptions } from '@queuelock/redis';
import { sharedRedis } from '@queuelock/harness/services';
import { harness } from './harness.ts';

type Client = NonNullable<RedisOptions['client']>;

const CLIENTS: Readonly<Record<string, (url: string) => Client>> = {
  'ioredis 5': (url) => new Redis(url, { lazyConnect: true }),
  'ioredis 6': (url) => new Redis6(url, { lazyConnect: true, replyMapping: 'resp3' }),
  'npm redis 5': (url) => createClient5({ url }),
  'npm redis 6': (url) => createClient({ url }),
};

for (const [name, clientOf] of Object.entries(CLIENTS)) {
  const prefix = name.replaceAll(' ', '-');
  describe(`@queuelock/redis over a client of ${name}`, () => {
    describeBackend({
      ...harness(prefix),
      expiryGranularityMs: 8_000,
      atOnce: 4,
      connect: async () => {
        const { endpoint } = await sharedRedis(`conformance over ${name}`);
        return redis({ client: clientOf(`redis://${endpoint}`), prefix });
      },
    });
  });
}
