import type { Backend } from '@queuelock/core/backend';
import { ZooKeeperBackend } from './backend.ts';
import { optionsOfUrl, settingsOf, type ZooKeeperOptions } from './api/options.ts';

export type { Naming } from './queue/naming.ts';
export type { ZooKeeperOptions } from './api/options.ts';
export type { ZooKeeperTls } from './api/tls.ts';

/**
 * queuelock over ZooKeeper (servers 3.5.3 and later). Nothing is connected before the first use.
 *
 * Queues are directories and entries are named as Apache Curator's InterProcessMutex names them, so both stand in one
 * queue; `naming` has other names, of more recipes of Curator and of kazoo. See the package's README. Not promised: exclusion for a paused process that acts without its fencing token.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an option that cannot be.
 */
export function zookeeper(options: ZooKeeperOptions): Backend {
  return new ZooKeeperBackend(settingsOf(options));
}

/**
 * The same from a URL: `zk://user:password@h1:2181,h2:2181/chroot?tickTimeMs=2000`. User and password are digest
 * credentials; the port is 2181 unless said; parameters are `tickTimeMs`, `syncLimit`, `connectTimeoutMs`, `transport`
 * and `naming`, one for all queues. `zks://` is with TLS, and the PEM files `?ca=file&cert=file&key=file`.
 * @throws {QueueLockError} `INVALID_ARGUMENT`; the message never repeats user or password.
 */
export function fromUrl(url: string): Backend {
  return zookeeper(optionsOfUrl(url));
}
