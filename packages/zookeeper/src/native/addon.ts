import { isMainThread } from 'node:worker_threads';
import { QueueLockError } from '@queuelock/core/backend';

/** The metadata of a node (`Stat`), as the npm package returns it. */
export interface NativeStat {
  readonly czxid: number;
  readonly version: number;
  readonly cversion: number;
  readonly numChildren: number;
  readonly pzxid: number;
  readonly ephemeralOwner: string;
}

type Callback = (code: number, text: string) => void;
type ValueCallback<T> = (code: number, text: string, value: T) => void;

/**
 * The functions of the addon. Each returns a result code at once. A code other than 0 means that the request was not sent and that the
 * callback will not be called.
 * The functions with a watcher (`aw_*`) are omitted: they leak a callback at each call, and can abort the process. Watches are set by a
 * flag instead, and reported by events that contain the path.
 */
export interface NativeCalls {
  add_auth(scheme: string, auth: string, done: Callback): number;
  a_create(path: string, data: Buffer, flags: number, done: ValueCallback<string>): number;
  a_delete_(path: string, version: number, done: Callback): number;
  a_set(path: string, data: Buffer, version: number, done: ValueCallback<NativeStat>): number;
  a_get(
    path: string,
    watch: boolean,
    done: (code: number, text: string, ...values: [stat: NativeStat, data: Buffer | null]) => void,
  ): number;
  a_exists(path: string, watch: boolean, done: ValueCallback<NativeStat>): number;
  a_get_children(path: string, watch: boolean, done: ValueCallback<string[]>): number;
  a_get_children2(
    path: string,
    watch: boolean,
    done: (code: number, text: string, ...values: [children: string[], stat: NativeStat]) => void,
  ): number;
  a_sync(path: string, done: ValueCallback<string>): number;
}

/**
 * The members of the npm package that are used. The types are our own, because the declarations of the package add modules called `helper`
 * and `index` to the whole program.
 */
export interface NativeClient {
  /** The session id in hexadecimal. */
  readonly client_id: string;
  readonly client_password: string;
  readonly timeout: number;
  /**
   * The state: 0 not connected, 1 connecting, 3 connected. It shows the loss of a connection earlier than the event of the package, which
   * is sometimes not emitted at all.
   */
  readonly state: number;
  init(config: NativeConfig): unknown;
  close(): unknown;
  /**
   * The compiled addon, which the methods of the package call. This package calls it directly, since each of those methods formats its arguments for
   * a log that is switched off.
   */
  readonly native: NativeCalls;
  on(
    event: 'created' | 'deleted' | 'changed' | 'child',
    listener: (self: unknown, path: string) => void,
  ): unknown;
  on(event: 'connect' | 'connecting', listener: () => void): unknown;
  on(event: 'close', listener: (self: unknown, state: number) => void): unknown;
}

export interface NativeConfig {
  readonly connect: string;
  readonly timeout: number;
  /** Id and password of an existing session, to resume it. */
  readonly client_id?: string;
  readonly client_password?: string;
  readonly debug_level: number;
  readonly host_order_deterministic: boolean;
  readonly response_counter_limit: number;
}

/** The `flags` of a request that creates a node (`zookeeper.h`). */
export const NATIVE_MODE = { persistent: 0, ephemeral: 1, 'ephemeral-sequential': 3, container: 4 } as const;

let Addon: (new () => NativeClient) | undefined;

/**
 * Loads the addon once.
 * @throws {QueueLockError} `INVALID_ARGUMENT` outside of the main thread, since the addon crashes a process that loads it in two threads
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the addon was not compiled
 */
export function requireAddon(): new () => NativeClient {
  if (!isMainThread) {
    throw new QueueLockError(
      'INVALID_ARGUMENT',
      'transport native works only in the main thread: the npm package zookeeper crashes a process that loads it in two threads; use transport wire in worker threads',
    );
  }
  Addon ??= loadAddon();
  return Addon;
}

/** Loads the package with a `require` that bundlers do not recognize. In a bundle, the package could not find its compiled part. */
function loadAddon(): new () => NativeClient {
  try {
    return process.getBuiltinModule('node:module').createRequire(import.meta.url)(
      'zookeeper',
    ) as new () => NativeClient;
  } catch (error) {
    throw new QueueLockError(
      'INVALID_ARGUMENT',
      `transport native ${reasonOf(error)}; or omit the option transport: the default, wire, needs no package`,
      { cause: error },
    );
  }
}

function reasonOf(error: unknown): string {
  const isMissing =
    error instanceof Error &&
    'code' in error &&
    error.code === 'MODULE_NOT_FOUND' &&
    error.message.startsWith("Cannot find module 'zookeeper'");
  return isMissing
    ? 'needs the npm package zookeeper, which is not installed where @queuelock/zookeeper finds it: npm install zookeeper@7'
    : `cannot load the npm package zookeeper (${String(error)}): it is compiled when it is installed, so allow its install script (pnpm: allowBuilds) and see its README for what the compiler needs`;
}
