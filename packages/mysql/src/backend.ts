import { randomBytes } from 'node:crypto';
import {
  DepartureCounter,
  connectionClosed,
  invalidArgument,
  refOf,
  sessionLost,
  systemClock,
  type Backend,
  type ObserveOptions,
  type Registers,
  type RenewerSupport,
} from '@queuelock/core/backend';
import { Connection } from './session/connection.ts';
import { diagnose } from './views/diagnose.ts';
import { checkName, orderIn } from './queue/names.ts';
import { settingsOf, type MysqlOptions, type Settings } from './api/options.ts';
import { registersOf } from './views/registers.ts';
import { renewersOf } from './renewers.ts';
import { defer } from './base/rx.ts';
import { foundIn, MysqlSession } from './session/session.ts';
import { literals } from './queue/sql.ts';
import { entriesOf, entriesWhenChanged, historyOf, queuesIn } from './views/views.ts';

const MIN_TTL_MS = 500;
const DEFAULT_TTL_MS = 10_000;
const LONGEST_TTL_MS = 2 ** 31 - 1;
const READ_INTERVAL_MS = 100;
const LIST_EVERY_MS = 1_000;

/**
 * Creates a backend over a database of MySQL (8.0.2 or later) or MariaDB (10.6 or later). It connects on first use, and creates its tables
 * and procedures if they are absent.
 * @param options of the server; either `url` or `pool` is required
 * @returns the backend, for `createLockClient` of `@queuelock/core`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 * @example
 * ```ts
 * import { createLockClient } from '@queuelock/core';
 * import { mysql } from '@queuelock/mysql';
 *
 * const locks = createLockClient(mysql({ url: 'mysql://app:secret@127.0.0.1:3306/app' }));
 * await locks.run('nightly report', async ({ token }) => {
 *   console.log(`holds the lock with fencing token ${token}`);
 * });
 * await locks.close();
 * ```
 */
export function mysql(options: MysqlOptions): Backend {
  return new MysqlBackend(settingsOf(options), renewersOf(options));
}

/**
 * Creates a backend from a URL.
 * @param url as in `MysqlOptions.url`, for instance `mysql://user:password@host:3306/database`
 * @returns the same backend as `mysql({ url })`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the URL is invalid
 */
export function fromUrl(url: string): Backend {
  return mysql({ url });
}

class MysqlBackend implements Backend {
  readonly info: Backend['info'];
  readonly errors$: Settings['errors$'];
  readonly registers: Registers;
  readonly renewers: RenewerSupport;
  readonly #connection: Connection;
  #closed = false;

  constructor({ driver, connections, requestTimeoutMs, errors$ }: Settings, renewers: RenewerSupport) {
    this.errors$ = errors$;
    this.info = {
      name: 'mysql',
      endpoint: driver.endpoint,
      authority: 'primary',
      minTtlMs: MIN_TTL_MS,
      minTtlRule: 'a commit may take some tens of milliseconds, and so does a busy process',
      defaultTtlMs: DEFAULT_TTL_MS,
    };
    this.#connection = new Connection({
      driver,
      clock: systemClock(),
      withinMs: requestTimeoutMs,
      connections,
    });
    this.registers = registersOf(() => this.#connected());
    this.renewers = renewers;
  }

  checkName(queue: string): void {
    checkName(queue);
  }

  async open(ttlMs: number): Promise<MysqlSession> {
    if (!(ttlMs >= MIN_TTL_MS && ttlMs <= LONGEST_TTL_MS)) {
      const rule = `is a number of milliseconds from ${MIN_TTL_MS} to ${LONGEST_TTL_MS}`;
      throw invalidArgument('ttlMs', ttlMs, rule);
    }
    const connection = this.#connected();
    const id = randomBytes(16).toString('hex');
    const ttlUs = Math.ceil(ttlMs * 1_000);
    await connection.steps.write(
      `insert into queuelock_session (id, generation, ttl, expires, lost)
       values (${literals([id, 1, ttlUs])}, utc_timestamp(6) + interval ${ttlUs} microsecond, 0)`,
    );
    return new MysqlSession(connection, { id, generation: 1, ttlMs, inherited: new Set(), lost: 0 });
  }

  async resume(resumption: string): Promise<MysqlSession> {
    if (!/^[0-9a-f]{32}$/.test(resumption))
      throw invalidArgument(
        'resumption',
        '(not shown)',
        'is the text that exportSession() returned for a session on MySQL',
      );
    const connection = this.#connected();
    const { word, rows, row } = await connection.take('resume', resumption);
    if (word === 'lost') throw sessionLost(resumption);
    const [session, ...found] = [...rows, row];
    return new MysqlSession(connection, {
      id: resumption,
      generation: Number(session.a),
      ttlMs: Number(session.b) / 1_000,
      lost: Number(session.c),
      inherited: new Set(found.map((entry) => refOf(foundIn(entry)))),
    });
  }

  observe(queue: string, { apartMs = 0 }: ObserveOptions = {}): ReturnType<Backend['observe']> {
    return defer(() => {
      const connection = this.#connected();
      return connection.observers.watch({
        read: entriesWhenChanged(connection, queue),
        everyMs: READ_INTERVAL_MS,
        apartMs,
      });
    });
  }

  queues(prefix: string): ReturnType<NonNullable<Backend['queues']>> {
    return defer(() => {
      const connection = this.#connected();
      const counter = new DepartureCounter(systemClock());
      return connection.observers.watch({
        read: async () => counter.listed(await queuesIn(connection, prefix)),
        everyMs: LIST_EVERY_MS,
      });
    });
  }

  async evict(queue: string, { key, order }: Parameters<NonNullable<Backend['evict']>>[1]): Promise<boolean> {
    const found = orderIn(queue, key);
    if (found === undefined)
      throw invalidArgument('key', key, `is the key of an entry of the queue ${JSON.stringify(queue)}`);
    if (found !== String(order)) return false;
    const { row } = await this.#connected().take('evict', queue, order);
    return Number(row.a) === 1;
  }

  async history(queue: string): ReturnType<NonNullable<Backend['history']>> {
    return historyOf(await entriesOf(this.#connected(), queue));
  }

  async diagnose(prefix: string): ReturnType<NonNullable<Backend['diagnose']>> {
    return diagnose(this.#connected(), this.info.endpoint, prefix);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#connection.close();
  }

  #connected(): Connection {
    if (this.#closed) throw connectionClosed(this.info.endpoint);
    return this.#connection;
  }
}
