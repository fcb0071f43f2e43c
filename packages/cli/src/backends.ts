import type { Backend } from '@queuelock/core';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';

interface BackendModule {
  /** Throws `INVALID_ARGUMENT` for a URL that it does not understand; connects later, on first use. */
  readonly fromUrl: (url: string) => Backend;
}

// Loaded only when asked for: a team on etcd never loads the native ZooKeeper client.
const MODULES: ReadonlyMap<string, () => Promise<BackendModule>> = new Map<
  string,
  () => Promise<BackendModule>
>([
  ['memory', () => import('@queuelock/memory')],
  ['etcd', () => import('@queuelock/etcd')],
  ['etcds', () => import('@queuelock/etcd')],
  ['zk', () => import('@queuelock/zookeeper')],
]);

const KNOWN = 'memory:, etcd://host:port, etcds://host:port, zk://host:port';

/** The backend that a URL names. The messages never repeat more of the URL than its scheme. */
export async function backendFromUrl(url: string | undefined): Promise<Backend> {
  if (url === undefined || url === '') {
    throw usage(`no backend given: use --backend URL or set QUEUELOCK_URL; known are ${KNOWN}`);
  }
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) throw usage(`the backend URL needs a scheme; known are ${KNOWN}`);
  const load = MODULES.get(scheme);
  if (load === undefined) throw usage(`unknown backend ${scheme}:; known are ${KNOWN}`);
  return (await loaded(scheme, load)).fromUrl(url);
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
