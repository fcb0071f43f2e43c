import { isDeepStrictEqual } from 'node:util';
import { randomBytes } from 'node:crypto';
import {
  DepartureCounter,
  checkedOptions,
  connectionClosed,
  invalidArgument,
  sessionLost,
  systemClock,
  type Backend,
  type KnownOptions,
  type ListedQueue,
  type ObserveOptions,
  type Registers,
} from '@queuelock/core/backend';
import { Connection } from './session/connection.ts';
import { diagnose } from './views/diagnose.ts';
import { checkName, checkSchema, orderIn } from './queue/names.ts';
import { settingsOf, type PostgresOptions, type Settings } from './api/options.ts';
import { registersOf } from './views/registers.ts';
import { concatMap, defer, distinctUntilChanged, timer, type Observable } from './base/rx.ts';
import { PostgresSession } from './session/session.ts';
import { DEFAULT_SCHEMA, migrationOf } from './sql/migration.ts';
import { storedText } from './queue/text.ts';
import { entriesOf, historyOf, queuesIn } from './views/views.ts';

const MIN_TTL_MS = 200;
const DEFAULT_TTL_MS = 10_000;
const LONGEST_TTL_MS = 2 ** 31 - 1;
const LIST_PAUSE_MS = 1_000;

/**
 * A backend over PostgreSQL (12 or later). Connects on first use.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for options that are none.
 */
export function postgres(options: PostgresOptions = {}): Backend {
  return new PostgresBackend(settingsOf(options));
}

/**
 * A backend by URL, as `PostgresOptions.url` says: `postgres://user:password@host:5432/database?schema=locks`.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for another URL.
 */
export function fromUrl(url: string): Backend {
  return postgres({ url });
}

/** For whom the tables are. */
export interface MigrationOptions {
  /** Default `queuelock`. */
  readonly schema?: string;
  /** The user of the locks, if it is not the one who runs the statements: gets what it needs, and no right to change tables. */
  readonly role?: string;
}

const MIGRATION_OPTIONS: KnownOptions<MigrationOptions> = { schema: 'any', role: 'any' };

/**
 * The statements that make schema, tables and functions, as one transaction, for psql: what a backend with the right to does by itself.
 * @throws {QueueLockError} `INVALID_ARGUMENT`
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
  readonly registers: Registers;
  readonly #connection: Connection;
  #closed = false;

  constructor({ driver, schema, migrate, connections, requestTimeoutMs, advisoryKey }: Settings) {
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
  }

  checkName(queue: string): void {
    checkName(queue);
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
    return new PostgresSession(connection, { id, num, generation: 1, ttlMs, inherited: 0 });
  }

  async resume(resumption: string): Promise<PostgresSession> {
    if (!/^[0-9a-f]{32}$/.test(resumption)) {
      const rule = 'is what a session on PostgreSQL gave as its resumption';
      throw invalidArgument('resumption', '(not shown)', rule);
    }
    const connection = this.#connected();
    await connection.open();
    const { word, num, generation, ttlMs, inherited } = await connection.steps.take<{
      readonly num: number;
      readonly generation: number;
      readonly ttlMs: number;
      readonly inherited: number;
    }>('resume', resumption, connection.inbox);
    if (word === 'lost') throw sessionLost(resumption);
    return new PostgresSession(connection, { id: resumption, num, generation, ttlMs, inherited });
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
