import type { Redis } from 'ioredis';
import { createRequire } from 'node:module';

// Loads npm redlock and redis-semaphore from the benchmark package, the only one that depends on them.
const ofBench = createRequire(new URL('../../bench/package.json', import.meta.url));

interface RedlockLock {
  release(): Promise<unknown>;
}
interface RedlockSettings {
  readonly retryCount: number;
  readonly retryDelay?: number;
}
interface Redlock {
  acquire(keys: readonly string[], ttlMs: number): Promise<RedlockLock>;
}
interface Mutex {
  acquire(): Promise<void>;
  release(): Promise<void>;
}

interface RedlockModule {
  readonly default: new (clients: readonly Redis[], settings: RedlockSettings) => Redlock;
}
interface SemaphoreModule {
  readonly Mutex: new (client: Redis, key: string, options: { readonly acquireTimeout: number }) => Mutex;
}

/** Returns a lock of npm redlock over one server. */
export function redlock(client: Redis, settings: RedlockSettings): Redlock {
  const { default: Made } = ofBench('redlock') as RedlockModule;
  return new Made([client], settings);
}

/** Returns a `Mutex` of npm redis-semaphore. By default it retries every 10 ms. */
export function mutex(client: Redis, key: string): Mutex {
  const { Mutex: Made } = ofBench('redis-semaphore') as SemaphoreModule;
  return new Made(client, key, { acquireTimeout: 600_000 });
}
