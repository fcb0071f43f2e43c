import { createLockClient, type Backend } from '@queuelock/core';
import { createLockManager, type LockManager } from '@queuelock/weblocks';

/** Where the locks of one test file are. */
export interface Origin {
  /** Of the store. */
  readonly url: string;
  readonly ttlMs: number;
  readonly scope: string;
}

/** What a process has in place of `navigator.locks`. Only the package of that store is loaded: there are many processes. */
export async function locksAt({ url, ttlMs, scope }: Origin): Promise<LockManager> {
  const { fromUrl } = await (url.startsWith('zk:')
    ? import('@queuelock/zookeeper')
    : import('@queuelock/etcd'));
  return locksOver(fromUrl(url), { ttlMs, scope });
}

export function locksOver(backend: Backend, { ttlMs, scope }: Omit<Origin, 'url'>): LockManager {
  return createLockManager(createLockClient(backend, { ttlMs }), { scope });
}
