import { QueueLockError } from '@queuelock/core/backend';
import type { Etcd3Class } from '../api/etcd3-client.ts';

const HOW =
  'or pass a client of it as the option client, or omit the option transport: the default, http2, needs no package';

/**
 * Loads npm etcd3 by a `require` that bundlers do not recognize. npm etcd3 must not be bundled: it reads files relative to its own folder, which a
 * bundle does not have.
 * @throws {QueueLockError} `INVALID_ARGUMENT` with a remedy if the package is not installed or cannot be loaded
 */
export function loadEtcd3(): Etcd3Class {
  try {
    const { Etcd3 } = process.getBuiltinModule('node:module').createRequire(import.meta.url)('etcd3') as {
      readonly Etcd3: Etcd3Class;
    };
    return Etcd3;
  } catch (error) {
    throw new QueueLockError('INVALID_ARGUMENT', `transport etcd3 ${reasonOf(error)}; ${HOW}`, {
      cause: error,
    });
  }
}

function reasonOf(error: unknown): string {
  const isMissing =
    error instanceof Error &&
    'code' in error &&
    error.code === 'MODULE_NOT_FOUND' &&
    error.message.startsWith("Cannot find module 'etcd3'");
  return isMissing
    ? 'needs the npm package etcd3, which is not installed where @queuelock/etcd finds it: npm install etcd3@1'
    : `cannot load the npm package etcd3 (${String(error)}): install it again, and exclude it from bundles`;
}
