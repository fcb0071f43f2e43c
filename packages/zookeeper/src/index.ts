import type { Backend } from '@queuelock/core/backend';
import { ZooKeeperBackend } from './backend.ts';
import { optionsOfUrl, settingsOf, type ZooKeeperOptions } from './api/options.ts';

export type { Naming } from './queue/naming.ts';
export type { ZooKeeperOptions } from './api/options.ts';
export type { ZooKeeperTls } from './api/tls.ts';

/**
 * Creates a backend over ZooKeeper (3.5.3 or later). It connects on first use.
 *
 * Queues are directories, and entries are named as Apache Curator's InterProcessMutex names them, so clients of this package and of Curator
 * share a queue. The option `naming` selects other names, for further recipes of Curator and for kazoo. A paused process that later writes
 * without its fencing token is not excluded.
 * @param options of the servers and the names; `hosts` is required
 * @returns the backend, for `createLockClient` of `@queuelock/core`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 * @example
 * ```ts
 * import { createLockClient } from '@queuelock/core';
 * import { zookeeper } from '@queuelock/zookeeper';
 *
 * const locks = createLockClient(zookeeper({ hosts: ['127.0.0.1:2181'] }));
 * await locks.run('nightly report', async ({ token }) => {
 *   console.log(`holds the lock with fencing token ${token}`);
 * });
 * await locks.close();
 * ```
 */
export function zookeeper(options: ZooKeeperOptions): Backend {
  return new ZooKeeperBackend(settingsOf(options));
}

/**
 * Creates a backend from a URL.
 * @param url `zk://user:password@h1:2181,h2:2181/chroot?tickTimeMs=2000`. User and password are digest credentials; the default port is
 *   2181. Parameters are `tickTimeMs`, `syncLimit`, `connectTimeoutMs`, `transport`, and `naming` for all queues. `zks://` uses TLS, with
 *   PEM files in `?ca=file&cert=file&key=file`
 * @returns the same backend as `zookeeper(options)`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the URL is invalid. The message never contains user or password.
 */
export function fromUrl(url: string): Backend {
  return zookeeper(optionsOfUrl(url));
}
