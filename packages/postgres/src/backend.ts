import { isDeepStrictEqual } from 'node:util';
import { randomBytes } from 'node:crypto';
import {
  checkedOptions,
  checkQueueName,
  connectionClosed,
  DepartureCounter,
  invalidArgument,
  refOf,
  sessionLost,
  systemClock,
  type Backend,
  type KnownOptions,
  type ListedQueue,
  type ObserveOptions,
  type Registers,
  type RenewerSupport,
} from '@queuelock/core/backend';
import { Connection } from './session/connection.ts';
import { diagnose } from './views/diagnose.ts';
import { checkSchema, orderIn } from './queue/names.ts';
import { settingsOf, type PostgresOptions, type Settings } from './api/options.ts';
import { registersOf } from './views/registers.ts';
import { renewersOf } from './renewers.ts';
import { concatMap, defer, distinctUntilChanged, timer, type Observable } from './base/rx.ts';
import type { Found } from './session/as-known.ts';
import { PostgresSession } from './session/session.ts';
import { DEFAULT_SCHEMA, migrationOf } from './sql/migration.ts';
import { storedText } from './queue/text.ts';
import { entriesOf, historyOf, queuesIn } from './views/views.ts';

const MIN_TTL_MS = 200;
const DEFAULT_TTL_MS = 10_000;
const LONGEST_TTL_MS = 2 ** 31 - 1;
const LIST_PAUSE_MS = 1_000;

/**
 * Creates a backend over PostgreSQL (12 or later). It connects on first use.
 * @param options of the server and the schema; all are optional
 * @returns the backend, for `createLockClient` of `@queuelock/core`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 * @example
 * ```ts
 * import { createLockClient } from '@queuelock/core';
 * import { postgres } from '@queuelock/postgres';
 *
 * const locks = createLockClient(postgres({ url: 'postgres://app:secret@127.0.0.1:5432/app' }));
 * await locks.run('nightly report', async ({ token }) => {
 *   console.log(`holds the lock with fencing token ${token}`);
 * });
 * await locks.close();
 * ```
 */
export function postgres(options: PostgresOptions = {}): Backend {
  return new PostgresBackend(settingsOf(options), renewersOf(options));
}

/**
 * Creates a backend from a URL.
 * @param url as in `PostgresOptions.url`, for instance `postgres://user:password@host:5432/database?schema=locks`
 * @returns the same backend as `postgres({ url })`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the URL is invalid
 */
export function fromUrl(url: string): Backend {
  return postgres({ url });
}

/** Options of `migration()`: the schema, and the role that uses it. */
export interface MigrationOptions {
  /** Schema of the tables and functions, as in `PostgresOptions.schema`. Default `queuelock`. */
  readonly schema?: string;
  /** Role of the lock clients, if it does not run the statements itself. It gets the rights that clients need, but none to change tables. */
  readonly role?: string;
}

const MIGRATION_OPTIONS: KnownOptions<MigrationOptions> = { schema: 'any', role: 'any' };

/**
 * Returns the statements that create the schema, its tables and its functions. A backend whose user has the rights runs the same statements
 * by itself.
 * @returns one transaction as a text, to be run by `psql`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 * @example
 * ```ts
 * import { migration } from '@queuelock/postgres';
 *
 * console.log(migration({ schema: 'locks', role: 'app' }));
 * ```
 */
export function migration(options: MigrationOptions = {}): string {
  const { schema = DEFAULT_SCHEMA, role } = checkedOptions(
    'options of migration',
    options,
    MIGRATION_OPTIONS,
  );
  if (role !== undefined && (typeof role !== 'string' || !/^[^"\0]{1,63}$/.test(role)))
    throw invalidArgument('role', role, 'is the name of a role, without quotes');
  return `begin;\n${migrationOf(checkSchema(schema), role)}commit;\n`;
}

class PostgresBackend implements Backend {
  readonly info: Backend['info'];
  readonly errors$: Settings['errors$'];
  readonly registers: Registers;
  readonly renewers: RenewerSupport;
  readonly #connection: Connection;
  #closed = false;

  constructor(
    { driver, schema, migrate, connections, requestTimeoutMs, advisoryKey, errors$ }: Settings,
    renewers: RenewerSupport,
  ) {
    this.errors$ = errors$;
    this.info = {
      name: 'postgres',
      endpoint: driver.endpoint,
      authority: 'primary',
      minTtlMs: MIN_TTL_MS,
      minTtlRule: 'a busy process is late by some tens of milliseconds',
      defaultTtlMs: DEFAULT_TTL_MS,
    };
    this.#connection = new Connection({
      ...{ driver, schema, migrate, clock: systemClock() },
      withinMs: requestTimeoutMs,
      most: connections,
      advisoryKeyOf: advisoryKey,
    });
    this.registers = registersOf(() => this.#connected());
    this.renewers = renewers;
  }

  checkName(queue: string): void {
    checkQueueName(queue);
  }

  async open(ttlMs: number): Promise<PostgresSession> {
    if (!(ttlMs >= MIN_TTL_MS && ttlMs <= LONGEST_TTL_MS)) {
      const rule = `is a number of milliseconds from ${MIN_TTL_MS} to ${LONGEST_TTL_MS}`;
      throw invalidArgument('ttlMs', ttlMs, rule);
    }
    const connection = this.#connected();
    const id = randomBytes(16).toString('hex');
    await connection.open();
    const { num, format } = await connection.steps.take<{
      readonly num: number;
      readonly format: number | null;
    }>('open', ...[id, ttlMs, connection.inbox]);
    await connection.steps.requireFormat(format);
    return new PostgresSession(connection, { id, num, generation: 1, ttlMs, inherited: new Set() });
  }

  async resume(resumption: string): Promise<PostgresSession> {
    if (!/^[0-9a-f]{32}$/.test(resumption)) {
      const rule = 'is the text that exportSession() returned for a session on PostgreSQL';
      throw invalidArgument('resumption', '(not shown)', rule);
    }
    const connection = this.#connected();
    await connection.open();
    const { word, num, generation, ttlMs, inherited } = await connection.steps.take<{
      readonly num: number;
      readonly generation: number;
      readonly ttlMs: number;
      readonly inherited: readonly Pick<Found, 'ord' | 'id'>[];
    }>('resume', resumption, connection.inbox);
    if (word === 'lost') throw sessionLost(resumption);
    const refs = new Set(inherited.map(refOf));
    return new PostgresSession(connection, { id: resumption, num, generation, ttlMs, inherited: refs });
  }

  observe(queue: string, { apartMs = 0 }: ObserveOptions = {}): ReturnType<Backend['observe']> {
    return defer(() => {
      const connection = this.#connected();
      return connection.watchQueue(queue, { read: () => entriesOf(connection, queue), pauseMs: apartMs });
    });
  }

  queues(prefix: string): Observable<readonly ListedQueue[]> {
    return defer(() => {
      const connection = this.#connected();
      const counter = new DepartureCounter(systemClock());
      return timer(0, LIST_PAUSE_MS).pipe(
        concatMap(async () => counter.listed((await queuesIn(connection, prefix)).found)),
        distinctUntilChanged<readonly ListedQueue[]>(isDeepStrictEqual),
      );
    });
  }

  async evict(queue: string, { key, order }: Parameters<NonNullable<Backend['evict']>>[1]): Promise<boolean> {
    const { steps } = this.#connected();
    const found = orderIn(queue, key);
    if (found === undefined)
      throw invalidArgument('key', key, `is the key of an entry of the queue ${JSON.stringify(queue)}`);
    if (found !== String(order)) return false;
    const { done } = await steps.take<{ readonly done: boolean }>('evict', storedText(queue), found);
    return done;
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
