import { checkedOptions, invalidArgument, QueueLockError, type KnownOptions } from '@queuelock/core/backend';
import type { ZnodeClient } from './client.ts';

/**
 * The methods of a session of the npm package `zookeeper` that this file uses. The package declares `text` as
 * a number, but it is a string.
 */
export interface NpmZookeeperSession {
  /** Reads a node of ZooKeeper. The argument `watch` is always false. */
  a_get(
    path: string,
    watch: boolean,
    done: (
      code: number,
      text: unknown,
      ...values: [stat: { readonly version: number }, data: Buffer | string | null]
    ) => void,
  ): unknown;
  /** Writes a node of ZooKeeper if the node still has the given version. */
  a_set(path: string, data: Buffer, version: number, done: (code: number, text: unknown) => void): unknown;
}

/** Options of {@link npmZookeeper}. */
export interface NpmZookeeperOptions {
  /** The timeout of a request in milliseconds. The package itself may wait for ever. Default 10,000. */
  readonly timeoutMs?: number;
}

const OPTIONS: KnownOptions<NpmZookeeperOptions> = { timeoutMs: 'any' };

// Result codes of ZooKeeper, as defined in zookeeper.h.
const OK = 0;
const NO_NODE = -101;
const BAD_VERSION = -103;
const DENIED: ReadonlySet<number> = new Set([-102, -115]);
const MAX_TIMER_MS = 2_147_483_647;

interface NativeResult<V extends unknown[]> {
  readonly code: number;
  readonly text: unknown;
  readonly values: V;
}
type NativeCallback<V extends unknown[]> = (code: number, text: unknown, ...values: V) => void;

/**
 * Creates a client for {@link fencedZnode} from your own session of the npm package `zookeeper`. It uses the functions with callbacks, because the
 * promises of the package carry no result code. The code of the application never runs inside those callbacks, where a new socket would never connect
 * and a new session would abort the process.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 */
export function npmZookeeper(session: NpmZookeeperSession, options?: NpmZookeeperOptions): ZnodeClient {
  const { timeoutMs = 10_000 } = checkedOptions('options of npmZookeeper', options, OPTIONS);
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMER_MS) {
    throw invalidArgument('timeoutMs', timeoutMs, `is a whole number from 1 to ${String(MAX_TIMER_MS)}`);
  }
  return {
    async get(path) {
      const { code, text, values } = await callNative<[{ readonly version: number }, Buffer | string | null]>(
        timeoutMs,
        (done) => session.a_get(path, false, done),
      );
      if (code === NO_NODE) return undefined;
      if (code !== OK) throw failure('read', code, text);
      const [{ version }, data] = values;
      if (typeof data === 'string') {
        throw invalidArgument('data_as_buffer of the session', false, 'is true: as text, data loses bytes');
      }
      return { version, data: data ?? new Uint8Array() };
    },
    async set(path, data, version) {
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      const { code, text } = await callNative(timeoutMs, (done) => session.a_set(path, bytes, version, done));
      if (code === OK || code === BAD_VERSION) return code === OK;
      throw failure('write', code, text);
    },
  };
}

function callNative<V extends unknown[]>(
  timeoutMs: number,
  call: (done: NativeCallback<V>) => unknown,
): Promise<NativeResult<V>> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new QueueLockError('UNAVAILABLE', `ZooKeeper did not respond within ${String(timeoutMs)} ms`));
    }, timeoutMs);
    const settle = (code: number, text: unknown, ...values: V): void => {
      clearTimeout(timer);
      resolve({ code, text, values });
    };
    const refusal = call((...results) => setImmediate(settle, ...results));
    // If the call returns a code other than OK, the package has not sent the request and never calls the
    // callback. So the promise is settled here.
    if (typeof refusal === 'number' && refusal !== OK) settle(refusal, 'not sent', ...([] as unknown[] as V));
  });
}

function failure(what: string, code: number, text: unknown): QueueLockError {
  return new QueueLockError(
    DENIED.has(code) ? 'ACCESS_DENIED' : 'UNAVAILABLE',
    `the ${what} of a znode failed with code ${String(code)} (${String(text)})`,
  );
}
