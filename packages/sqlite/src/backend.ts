import { resolve } from 'node:path';
import {
  DepartureCounter,
  checkedOptions,
  connectionClosed,
  invalidArgument,
  systemClock,
  type Backend,
  type KnownOptions,
  type ObserveOptions,
  type Registers,
} from '@queuelock/core/backend';
import { Connection } from './session/connection.ts';
import { diagnose } from './diagnose.ts';
import { checkKind, checkText } from './queue/registers.ts';
import { defer, switchMap, type Observable } from './base/rx.ts';
import { MIN_TTL_MS, type Home } from './queue/sessions.ts';
import { SqliteSession } from './session/session.ts';
import { historyOf } from './queue/views.ts';

/** Settings of a backend. */
export interface SqliteOptions {
  /**
   * The file, relative to the working directory: every process that is to stand in the same queues names the same one. It is made if it
   * is not there, readable and writable for this user only; its directory must be there. Nothing else may open it.
   */
  readonly file: string;
  /**
   * What becomes of a session when the system says that its process has ended: `release` ends it at once, `expire` leaves it to its TTL. For those
   * whose work may outlive the process, such as commands that it started. Default `release`.
   */
  readonly onProcessExit?: 'release' | 'expire';
}

const OPTIONS: KnownOptions<SqliteOptions> = { file: 'any', onProcessExit: 'any' };
const DEFAULT_TTL_MS = 10_000;
const LONGEST_TTL_MS = 2 ** 31 - 1;

/**
 * A backend for the processes of one machine, over a file on a disk of that machine. Opens the file on first use.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for options that are none. What is wrong with the file itself is told on first use.
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
    };
    this.registers = {
      read: async (queue, kind) => {
        checkKind(kind);
        const { store } = await this.#connect();
        return store.read(() => store.registers.read(queue, kind));
      },
      write: async (queue, kind, change) => {
        checkKind(kind);
        checkText(change.text);
        const { store } = await this.#connect();
        return store.write(() => store.registers.write(queue, kind, change));
      },
      observe: (queue, kind) =>
        this.#watching(({ store }) => {
          checkKind(kind);
          return () => store.registers.read(queue, kind);
        }),
    };
  }

  checkName(queue: string): void {
    if (typeof queue !== 'string' || queue === '')
      throw invalidArgument('queue', queue, 'is a string with at least one character');
    if (/\p{Surrogate}/u.test(queue)) throw invalidArgument('queue', queue, 'is well-formed Unicode');
  }

  async open(ttlMs: number): Promise<SqliteSession> {
    if (!(ttlMs >= MIN_TTL_MS && ttlMs <= LONGEST_TTL_MS)) {
      const rule = `is a number of milliseconds from ${MIN_TTL_MS} to ${LONGEST_TTL_MS}`;
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
        'is what a session on SQLite gave as its resumption',
      );
    const connection = await this.#connect();
    const { store } = connection;
    const home = this.#homeIn(connection);
    return new SqliteSession(connection, await store.write(() => store.sessions.resume(resumption, home)));
  }

  observe(queue: string, looking: ObserveOptions = {}): ReturnType<Backend['observe']> {
    return this.#watching(
      ({ store }) =>
        () =>
          store.views.entries(queue),
      looking,
    );
  }

  queues(prefix: string): ReturnType<NonNullable<Backend['queues']>> {
    return this.#watching(({ store }) => {
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
    // One that could not be opened needs no closing.
    const connection = await this.#connection?.catch(() => undefined);
    connection?.close();
  }

  /** Nothing is judged by the end of a process whose numbers count nowhere. */
  #homeIn({ home }: Connection): Home {
    return this.#onProcessExit === 'release' ? home : { ...home, namespace: '' };
  }

  #watching<T>(view: (connection: Connection) => () => T, { apartMs }: ObserveOptions = {}): Observable<T> {
    return defer(() => this.#connect()).pipe(
      switchMap((connection) => connection.watch(view(connection), apartMs)),
    );
  }

  /** The connection, opened anew when there is none or when its file is not there any more. */
  async #connect(): Promise<Connection> {
    if (this.#closed) throw connectionClosed(this.#file);
    const opening = (this.#connection ??= Connection.open(this.#file));
    try {
      const connection = await opening;
      if (connection.store.isThere()) return connection;
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
