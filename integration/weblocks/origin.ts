import { createLockClient, type Backend } from '@queuelock/core';
import { createLockManager, type LockManager } from '@queuelock/weblocks';

/** The store of the locks of one test file. */
export interface Origin {
  /** URL of the store that has the locks. */
  readonly url: string;
  readonly ttlMs: number;
  readonly scope: string;
}

/**
 * Returns the lock manager that a process has instead of `navigator.locks`. Loads only the package of that
 * store, because there are many processes.
 */
export async function locksAt({ url, ttlMs, scope }: Origin): Promise<LockManager> {
  const { fromUrl } = await (url.startsWith('zk:')
    ? import('@queuelock/zookeeper')
    : import('@queuelock/etcd'));
  return locksOver(fromUrl(url), { ttlMs, scope });
}

export function locksOver(backend: Backend, { ttlMs, scope }: Omit<Origin, 'url'>): LockManager {
  return createLockManager(createLockClient(backend, { ttlMs }), { scope });
}
