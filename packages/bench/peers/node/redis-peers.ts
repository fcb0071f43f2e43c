import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';
import type { Lock } from './contender.ts';
import { endpointOf } from './protocol.ts';
import { SESSION_MS } from './session.ts';

/** Types of the part of redlock that this program uses. The package does not export its declarations. */
interface Redlock {
  acquire(names: string[], ms: number): Promise<{ release(): Promise<unknown> }>;
}

const { default: Redlock } = createRequire(import.meta.url)('redlock') as {
  default: new (clients: Redis[], settings: { retryCount: number }) => Redlock;
};

/** redis-semaphore's `Mutex` with its defaults: it retries every 10 ms. */
export function redisSemaphore(): Lock {
  return {
    async open() {
      const redis = await connected();
      return {
        async acquire(name) {
          const mutex = new Mutex(redis, name, { lockTimeout: SESSION_MS, acquireTimeout: 2 * SESSION_MS });
          await mutex.acquire();
          return () => mutex.release();
        },
        close: async () => redis.disconnect(),
      };
    },
  };
}

/**
 * redlock on one Redis server. It has its default settings, with a retry about every 200 ms, except for more
 * retries.
 */
export function redlock(): Lock {
  return {
    async open() {
      const redis = await connected();
      const locks = new Redlock([redis], { retryCount: 1_000 });
      return {
        async acquire(name) {
          const lock = await locks.acquire([name], SESSION_MS);
          return () => lock.release();
        },
        close: async () => redis.disconnect(),
      };
    },
  };
}

async function connected(): Promise<Redis> {
  const [host = '', port] = endpointOf('REDIS').split(':');
  const redis = new Redis({ host, port: Number(port), lazyConnect: true });
  const ready = once(redis, 'ready');
  await redis.connect();
  await ready.catch(() => undefined);
  return redis;
}
