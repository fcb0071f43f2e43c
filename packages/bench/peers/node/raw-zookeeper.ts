import { once, type EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { RawStore } from './contender.ts';
import { endpointOf } from './protocol.ts';
import { SESSION_MS } from './session.ts';

const EPHEMERAL = 1;
const EPHEMERAL_SEQUENTIAL = 3;
const CLOSE_AFTER_MS = 50;

type Done = (code: number, text: string, value: unknown) => void;

/**
 * Types of the part of the npm package zookeeper that the benchmark uses. The package's own declarations need
 * other packages.
 */
interface Native extends EventEmitter {
  init(config: Config): void;
  close(): void;
  a_create(path: string, data: Buffer, flags: number, done: Done): number;
  a_delete_(path: string, version: number, done: Done): number;
  a_exists(path: string, watch: boolean, done: Done): number;
}

interface Config {
  readonly connect: string;
  readonly timeout: number;
  readonly debug_level: number;
  /** Id and password of the session, both needed to resume it. */
  readonly client_id?: string;
  readonly client_password?: string;
}

const Native = createRequire(import.meta.url)('zookeeper') as new () => Native;

/** Raw ZooKeeper calls over the npm package zookeeper, as queuelock's transport `zookeeper` makes them. */
export async function rawZooKeeper(): Promise<RawStore> {
  const native = new Native();
  const watched = new Map<string, () => void>();
  const connected = once(native, 'connect');
  native.init({ connect: endpointOf('ZK'), timeout: SESSION_MS, debug_level: 0 });
  await connected;
  native.on('deleted', (_self: unknown, path: string) => {
    // Calls the listener outside of the callback of the npm package zookeeper. The package delays a call that
    // is made inside of its callback until the next network event.
    setImmediate(() => {
      watched.get(path)?.();
      watched.delete(path);
    });
  });
  const create = (key: string): Promise<unknown> =>
    call((done) => native.a_create(`/${key}`, Buffer.alloc(0), EPHEMERAL, done));
  const remove = (key: string): Promise<unknown> => call((done) => native.a_delete_(`/${key}`, -1, done));
  const watchDeletion = async (key: string, gone: () => void): Promise<void> => {
    watched.set(`/${key}`, gone);
    await call((done) => native.a_exists(`/${key}`, true, done));
  };
  const createNumbered = (key: string): Promise<unknown> =>
    call((done) => native.a_create(`/${key}-`, Buffer.alloc(0), EPHEMERAL_SEQUENTIAL, done));
  return {
    create,
    remove,
    watchDeletion,
    calls: {
      create: createNumbered,
      createdelete: async (key) => {
        const path = String(await createNumbered(key));
        await remove(path.slice(1));
      },
      event: async (key) => {
        await create(key);
        const gone = new Promise<void>((resolve) => void watchDeletion(key, resolve));
        await Promise.all([remove(key), gone]);
      },
    },
    close: () =>
      new Promise((resolve) =>
        setTimeout(() => {
          native.close();
          resolve();
        }, CLOSE_AFTER_MS),
      ),
  };
}

/**
 * Resumes a session from another connection. The returned function closes the session, and resolves when the
 * server has responded.
 */
export async function closeSession(secret: {
  readonly session: string;
  readonly password: string;
}): Promise<() => Promise<void>> {
  const native = new Native();
  const connected = once(native, 'connect');
  const key = { client_id: secret.session, client_password: secret.password };
  native.init({ connect: endpointOf('ZK'), timeout: SESSION_MS, debug_level: 0, ...key });
  await connected;
  // `close` blocks until the server has responded.
  return async () => native.close();
}

function call(send: (done: Done) => number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = send((code, text, value) => {
      // Settles the promise outside of the callback of the npm package zookeeper. The package delays a call
      // that is made inside of its callback until the next network event.
      setImmediate(() => (code === 0 ? resolve(value) : reject(new Error(`ZooKeeper answers ${text}`))));
    });
    if (sent !== 0) reject(new Error(`the ZooKeeper client refuses the call (${sent})`));
  });
}
