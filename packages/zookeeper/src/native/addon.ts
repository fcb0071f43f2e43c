import { isMainThread } from 'node:worker_threads';
import { QueueLockError } from '@queuelock/core/backend';

/** A node's facts as the package hands them out. */
export interface NativeStat {
  readonly czxid: number;
  readonly version: number;
  readonly cversion: number;
  readonly numChildren: number;
  readonly pzxid: number;
  readonly ephemeralOwner: string;
}

type Done = (code: number, text: string) => void;
type DoneWith<T> = (code: number, text: string, value: T) => void;

/**
 * Every call answers with a result code at once; other than 0 means that nothing was sent and that the callback will not
 * run.
 *
 * The functions with a watcher (`aw_*`) are left out on purpose: each call of one leaks its callback, and they can
 * abort the process. A watch asked for by a flag is told through the events instead, by path.
 */
export interface NativeCalls {
  add_auth(scheme: string, auth: string, done: Done): number;
  a_create(path: string, data: Buffer, flags: number, done: DoneWith<string>): number;
  a_delete_(path: string, version: number, done: Done): number;
  a_set(path: string, data: Buffer, version: number, done: DoneWith<NativeStat>): number;
  a_get(
    path: string,
    watch: boolean,
    done: (code: number, text: string, ...values: [stat: NativeStat, data: Buffer | null]) => void,
  ): number;
  a_exists(path: string, watch: boolean, done: DoneWith<NativeStat>): number;
  a_get_children(path: string, watch: boolean, done: DoneWith<string[]>): number;
  a_get_children2(
    path: string,
    watch: boolean,
    done: (code: number, text: string, ...values: [children: string[], stat: NativeStat]) => void,
  ): number;
  a_sync(path: string, done: DoneWith<string>): number;
}

/**
 * As much of the npm package as is used, with types of our own: its declarations put modules called `helper` and `index`
 * into the whole program.
 */
export interface NativeClient {
  /** The session, in hexadecimal. */
  readonly client_id: string;
  readonly client_password: string;
  readonly timeout: number;
  /** 0: not connected, 1: connecting, 3: connected. Reports a loss before the event does, and sometimes without one. */
  readonly state: number;
  init(config: NativeConfig): unknown;
  close(): unknown;
  /** Below the package's own methods, each of which first puts its arguments into words for a log that is off. */
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
  /** Both of an existing session, to go on with it. */
  readonly client_id?: string;
  readonly client_password?: string;
  readonly debug_level: number;
  readonly host_order_deterministic: boolean;
  readonly response_counter_limit: number;
}

/** The `flags` of a create (`zookeeper.h`). */
export const NATIVE_MODE = { persistent: 0, ephemeral: 1, 'ephemeral-sequential': 3, container: 4 } as const;

let Addon: (new () => NativeClient) | undefined;

/**
 * Loads the addon, once.
 * @throws {QueueLockError} `INVALID_ARGUMENT` outside of the main thread (with the addon in two threads the process crashes)
 * and where the addon was not compiled.
 */
export function requireAddon(): new () => NativeClient {
  if (!isMainThread) {
    throw new QueueLockError(
      'INVALID_ARGUMENT',
      'transport native of queuelock over ZooKeeper runs in the main thread only: the npm package zookeeper crashes the process when it is loaded in two threads; without it (transport wire) any thread will do',
    );
  }
  Addon ??= loadAddon();
  return Addon;
}

/** Uses a `require` that bundlers do not recognize: the package finds its compiled part by its own place. */
function loadAddon(): new () => NativeClient {
  try {
    return process.getBuiltinModule('node:module').createRequire(import.meta.url)(
      'zookeeper',
    ) as new () => NativeClient;
  } catch (error) {
    throw new QueueLockError(
      'INVALID_ARGUMENT',
      `transport native ${reasonOf(error)}; or leave transport out: the default, wire, needs no package`,
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
