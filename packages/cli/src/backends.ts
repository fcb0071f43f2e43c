import type { Backend } from '@queuelock/core';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';

interface BackendModule {
  /**
   * Returns a backend that connects on first use. Throws `INVALID_ARGUMENT` for a URL that it cannot parse.
   */
  readonly fromUrl: (url: string) => Backend;
}

// Backends by URL scheme. Each is loaded on demand, so that a team on etcd never loads a ZooKeeper client.
const MODULES: ReadonlyMap<string, () => Promise<BackendModule>> = new Map<
  string,
  () => Promise<BackendModule>
>([
  ['memory', () => import('@queuelock/memory')],
  ['etcd', () => import('@queuelock/etcd')],
  ['etcds', () => import('@queuelock/etcd')],
  ['zk', () => import('@queuelock/zookeeper')],
  ['zks', () => import('@queuelock/zookeeper')],
  ['sqlite', () => import('@queuelock/sqlite')],
  ['redis', () => import('@queuelock/redis')],
  ['rediss', () => import('@queuelock/redis')],
  ['postgres', () => import('@queuelock/postgres')],
  ['postgresql', () => import('@queuelock/postgres')],
  ['mysql', () => import('@queuelock/mysql')],
  ['mariadb', () => import('@queuelock/mysql')],
  ['consul', () => import('@queuelock/consul')],
  ['consuls', () => import('@queuelock/consul')],
]);

/** URL schemes that are supported, for messages. */
export const KNOWN_SCHEMES =
  'memory:, sqlite:file, etcd://host:port, etcds://host:port, zk://host:port, zks://host:port, redis://host:port, rediss://host:port, postgres://host:port/database, mysql://host:port/database, consul://host:port, consuls://host:port';

/** Properties of a command that change how its backend is configured. */
export interface BackendUse {
  /**
   * Whether work under the lock, such as a child process, may outlive this process. If so, the store must
   * keep the locks of a dead process until their lease expires.
   */
  readonly mayOutlive?: true;
}

/** Makes the backend for a URL, not connected yet. Errors never contain more of the URL than its scheme. */
export async function backendFromUrl(url = '', { mayOutlive }: BackendUse = {}): Promise<Backend> {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) throw usage(`the backend URL needs a scheme; known schemes are ${KNOWN_SCHEMES}`);
  const load = MODULES.get(scheme);
  if (load === undefined) throw usage(`unknown backend ${scheme}:; known schemes are ${KNOWN_SCHEMES}`);
  return (await loaded(scheme, load)).fromUrl(mayOutlive && scheme === 'sqlite' ? keepUntilExpiry(url) : url);
}

/**
 * Adds the parameter `onProcessExit=expire` to the URL of a store that detects the death of a process. The
 * store then keeps the locks of a dead process until their lease expires. By default it frees them at once.
 */
function keepUntilExpiry(url: string): string {
  if (/[?&]onProcessExit=/.test(url)) return url;
  return `${url}${url.includes('?') ? '&' : '?'}onProcessExit=expire`;
}

async function loaded(scheme: string, load: () => Promise<BackendModule>): Promise<BackendModule> {
  try {
    return await load();
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new Failure(`the backend for ${scheme}: cannot be loaded, reinstall the package: ${detail}`, {
      exitCode: EXIT.failure,
      cause,
    });
  }
}

function usage(message: string): Failure {
  return new Failure(message, { exitCode: EXIT.usage });
}
