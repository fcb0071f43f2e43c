import { createLockClient, type Backend } from '@queuelock/core';
import { createLockManager, type LockManager } from '@queuelock/weblocks';

/** The store in which all processes of one test file have their locks. */
export interface Origin {
  /** URL of the store that has the locks. */
  readonly url: string;
  readonly ttlMs: number;
  readonly scope: string;
}

/**
 * Returns the lock manager that replaces `navigator.locks` in a process. Loads only the package of the store
 * in the URL, because there are many processes.
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
