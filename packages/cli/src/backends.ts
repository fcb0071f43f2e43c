import type { Backend } from '@queuelock/core';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';

interface BackendModule {
  /** Throws `INVALID_ARGUMENT` for a URL that it does not understand; connects later, on first use. */
  readonly fromUrl: (url: string) => Backend;
}

// Loaded only when asked for: a team on etcd never loads a ZooKeeper client.
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

/** The URLs that are understood, for messages. */
export const KNOWN =
  'memory:, sqlite:file, etcd://host:port, etcds://host:port, zk://host:port, zks://host:port, redis://host:port, rediss://host:port, postgres://host:port/database, mysql://host:port/database, consul://host:port, consuls://host:port';

/** How a backend is used. */
export interface BackendUse {
  /** What is done under its locks may go on after this process has died: then only the lease ends them. */
  readonly outlived?: true;
}

/** The backend that a URL names; not connected yet. The messages never repeat more of the URL than its scheme. */
export async function backendFromUrl(url = '', { outlived }: BackendUse = {}): Promise<Backend> {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) throw usage(`the backend URL needs a scheme; known are ${KNOWN}`);
  const load = MODULES.get(scheme);
  if (load === undefined) throw usage(`unknown backend ${scheme}:; known are ${KNOWN}`);
  return (await loaded(scheme, load)).fromUrl(outlived && scheme === 'sqlite' ? leftToLease(url) : url);
}

/** A store that sees the death of a process frees its locks at once, unless it is told otherwise. */
function leftToLease(url: string): string {
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
