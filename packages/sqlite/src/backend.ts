import { resolve } from 'node:path';
import {
  checkedOptions,
  checkedRegisterKind,
  checkedRegisterText,
  checkQueueName,
  connectionClosed,
  DepartureCounter,
  invalidArgument,
  systemClock,
  type Backend,
  type KnownOptions,
  type ObserveOptions,
  type Registers,
} from '@queuelock/core/backend';
import { Connection } from './session/connection.ts';
import { diagnose } from './diagnose.ts';
import { defer, switchMap, type Observable } from './base/rx.ts';
import { MIN_TTL_MS, type Home } from './queue/sessions.ts';
import { SqliteSession } from './session/session.ts';
import { historyOf } from './queue/views.ts';

/** Options of the SQLite backend. */
export interface SqliteOptions {
  /**
   * The path of the file, relative to the working directory. All processes that share queues use the same file. It is created if it is
   * missing, readable and writable for this user only. Its directory must exist. No other program may open it.
   */
  readonly file: string;
  /**
   * What happens to a session when the operating system reports that its process has ended. `release` ends it at once. `expire` leaves it
   * to its TTL, for work that may outlive the process, such as commands that it started. Default `release`.
   */
  readonly onProcessExit?: 'release' | 'expire';
}

const OPTIONS: KnownOptions<SqliteOptions> = { file: 'any', onProcessExit: 'any' };
const DEFAULT_TTL_MS = 10_000;
const MAX_TTL_MS = 2 ** 31 - 1;

/**
 * Creates a backend for the processes of one machine, over a file on a disk of that machine. It opens the file on first use.
 * @param options `file` is required
 * @returns the backend, for `createLockClient` of `@queuelock/core`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid. Problems of the file itself are reported on first use.
 * @example
 * ```ts
 * import { createLockClient } from '@queuelock/core';
 * import { sqlite } from '@queuelock/sqlite';
 *
 * const locks = createLockClient(sqlite({ file: 'locks.db' }));
 * await locks.run('nightly report', async ({ token }) => {
 *   console.log(`holds the lock with fencing token ${token}`);
 * });
 * await locks.close();
 * ```
 */
export function sqlite(options: SqliteOptions): Backend {
  const { file, onProcessExit = 'release' } = checkedOptions('options of sqlite', options, OPTIONS);
  if (typeof file !== 'string' || file === '' || file.includes('\0'))
    throw invalidArgument('file', file, 'is the path of a file');
  if (!['release', 'expire'].includes(onProcessExit))
    throw invalidArgument('onProcessExit', onProcessExit, 'is release or expire');
  return new SqliteBackend({ file: resolve(file), onProcessExit });
}

class SqliteBackend implements Backend {
  readonly info: Backend['info'];
  readonly registers: Registers;
  readonly #file: string;
  readonly #onProcessExit: 'release' | 'expire';
  #connection: Promise<Connection> | undefined;
  #closed = false;

  constructor({ file, onProcessExit }: Required<SqliteOptions>) {
    this.#file = file;
    this.#onProcessExit = onProcessExit;
    this.info = {
      name: 'sqlite',
      endpoint: `sqlite:${file}`,
      authority: 'host',
      minTtlMs: MIN_TTL_MS,
      minTtlRule: 'a busy process is late by some tens of milliseconds',
      defaultTtlMs: DEFAULT_TTL_MS,
      mainThreadRule:
        'set ttlMs above the longest block instead, because a process that ends frees its locks at once (onProcessExit)',
    };
    this.registers = {
      read: async (queue, kind) => {
        checkedRegisterKind(kind);
        const { store } = await this.#connect();
        return store.read(() => store.registers.read(queue, kind));
      },
      write: async (queue, kind, change) => {
        checkedRegisterKind(kind);
        if (change.text !== undefined) checkedRegisterText(change.text);
        const { store } = await this.#connect();
        return store.write(() => store.registers.write(queue, kind, change));
      },
      observe: (queue, kind) =>
        this.#watch(({ store }) => {
          checkedRegisterKind(kind);
          return () => store.registers.read(queue, kind);
        }),
    };
  }

  checkName(queue: string): void {
    checkQueueName(queue);
  }

  async open(ttlMs: number): Promise<SqliteSession> {
    if (!(ttlMs >= MIN_TTL_MS && ttlMs <= MAX_TTL_MS)) {
      const rule = `is a number of milliseconds from ${MIN_TTL_MS} to ${MAX_TTL_MS}`;
      throw invalidArgument('ttlMs', ttlMs, rule);
    }
    const connection = await this.#connect();
    const { store } = connection;
    const home = this.#homeIn(connection);
    return new SqliteSession(connection, await store.write(() => store.sessions.open(ttlMs, home)));
  }

  async resume(resumption: string): Promise<SqliteSession> {
    if (!/^[0-9a-f]{32}$/.test(resumption))
      throw invalidArgument(
        'resumption',
        '(not shown)',
        'is the text that exportSession() returned for a session on SQLite',
      );
    const connection = await this.#connect();
    const { store } = connection;
    const home = this.#homeIn(connection);
    return new SqliteSession(connection, await store.write(() => store.sessions.resume(resumption, home)));
  }

  observe(queue: string, options: ObserveOptions = {}): ReturnType<Backend['observe']> {
    return this.#watch(
      ({ store }) =>
        () =>
          store.views.entries(queue),
      options,
    );
  }

  queues(prefix: string): ReturnType<NonNullable<Backend['queues']>> {
    return this.#watch(({ store }) => {
      const counter = new DepartureCounter(systemClock());
      return () => counter.listed(store.views.queues(prefix));
    });
  }

  async evict(queue: string, { key, order }: Parameters<NonNullable<Backend['evict']>>[1]): Promise<boolean> {
    if (!key.startsWith(`${queue}/`) || !/^\d+$/.test(key.slice(queue.length + 1)))
      throw invalidArgument('key', key, `is the key of an entry of the queue ${JSON.stringify(queue)}`);
    if (key !== `${queue}/${order}`) return false;
    const { store } = await this.#connect();
    return store.write(() => store.entries.remove(queue, Number(order)));
  }

  async history(queue: string): ReturnType<NonNullable<Backend['history']>> {
    const { store } = await this.#connect();
    return historyOf(await store.read(() => store.views.entries(queue)));
  }

  async diagnose(prefix: string): ReturnType<NonNullable<Backend['diagnose']>> {
    const { store, home } = await this.#connect();
    return store.read(() => diagnose(store, home, prefix));
  }

  async close(): Promise<void> {
    this.#closed = true;
    // If opening the file has failed, there is no connection to close.
    const connection = await this.#connection?.catch(() => undefined);
    connection?.close();
  }

  /**
   * Returns the process and inbox to store with a new session. With `onProcessExit: 'expire'` the stored pid
   * namespace is empty, so that the end of the process does not end the session.
   */
  #homeIn({ home }: Connection): Home {
    return this.#onProcessExit === 'release' ? home : { ...home, namespace: '' };
  }

  #watch<T>(view: (connection: Connection) => () => T, { apartMs }: ObserveOptions = {}): Observable<T> {
    return defer(() => this.#connect()).pipe(
      switchMap((connection) => connection.watch(view(connection), apartMs)),
    );
  }

  /** Returns the open file. Opens it if it is not open, or if it was removed since. */
  async #connect(): Promise<Connection> {
    if (this.#closed) throw connectionClosed(this.#file);
    const opening = (this.#connection ??= Connection.open(this.#file));
    try {
      const connection = await opening;
      if (connection.store.fileExists()) return connection;
      connection.close();
    } catch (error) {
      this.#forget(opening);
      throw error;
    }
    this.#forget(opening);
    return this.#connect();
  }

  #forget(opening: Promise<Connection>): void {
    if (this.#connection === opening) this.#connection = undefined;
  }
}
