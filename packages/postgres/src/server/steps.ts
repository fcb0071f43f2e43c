import { FORMAT, migrationOf } from '../sql/migration.ts';
import { QueueLockError, isQueueLockError, unreadableReply } from '@queuelock/core/backend';
import { asQueueLockError, codeOf, isClash, isMissing } from '../driver/errors.ts';
import type { Pool } from './pool.ts';

/** Reply of an SQL function. `word` is the outcome, and the function determines the further fields. */
export interface Answer {
  /**
   * Outcome of the step.
   * - `lost`: the session has ended.
   * - `removed`: the entry was removed and must not be added again.
   * - `busy`: the entry was not added, because it would have to wait.
   * - `other`: the stored entry with that id has other properties.
   */
  readonly word: 'ok' | 'lost' | 'removed' | 'busy' | 'other';
}

const WORDS: readonly unknown[] = [
  'ok',
  'lost',
  'removed',
  'busy',
  'other',
] satisfies readonly Answer['word'][];

function isResponse(value: unknown): value is Answer {
  return typeof value === 'object' && value !== null && 'word' in value && WORDS.includes(value.word);
}

type Value = string | number | boolean | null | readonly string[];
type Ask = (text: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;

interface Settings {
  readonly endpoint: string;
  readonly schema: string;
  /** Whether the backend may create its schema and its tables. */
  readonly migrate: boolean;
}

const TRIES = 4;

/** Runs steps on the store. Each step is one statement, and so one transaction. */
export class Steps {
  readonly #pool: Pool;
  readonly #settings: Settings;
  #migrating: Promise<void> | undefined;

  constructor(pool: Pool, settings: Settings) {
    this.#pool = pool;
    this.#settings = settings;
  }

  /**
   * Calls an SQL function in the schema of the locks. @throws {QueueLockError} the error that
   * `asQueueLockError` returns
   */
  take<T = unknown>(name: string, ...values: readonly Value[]): Promise<Answer & T> {
    return this.takeOn((text, given) => this.#pool.run(text, given), name, ...values);
  }

  /**
   * Calls a function of the schema through `request`, which runs a statement on a connection that the caller
   * has chosen. Creates the tables if they are absent, and repeats the call after a conflict with another
   * step.
   * @throws {QueueLockError} the error that `asQueueLockError` returns
   */
  async takeOn<T = unknown>(request: Ask, name: string, ...values: readonly Value[]): Promise<Answer & T> {
    const { schema } = this.#settings;
    const text = `select ${schema}.${name}(${values.map((_, place) => `$${place + 1}`).join(', ')}) as answer`;
    for (let left = TRIES; ; left -= 1) {
      try {
        const [row] = await request(text, values);
        const response = row?.['answer'];
        if (isResponse(response)) return response as Answer & T;
        throw unreadableReply(this.#settings.endpoint, `the step ${name}`, response);
      } catch (error) {
        if (left > 1 && isClash(error)) continue;
        if (left === TRIES && isMissing(error)) await this.#migrate(error);
        else throw asQueueLockError(error, this.#settings);
      }
    }
  }

  /**
   * Runs a statement that calls no function of the schema.
   * @throws {QueueLockError} the error that `asQueueLockError` returns
   */
  async ask(text: string, ...values: readonly string[]): Promise<readonly Record<string, unknown>[]> {
    try {
      return await this.#pool.run(text, values.length > 0 ? values : undefined);
    } catch (error) {
      throw asQueueLockError(error, this.#settings);
    }
  }

  /**
   * Checks the format number that the schema's table `store` contains. `null` means that the table lacks its
   * only row, as after an operator truncated all tables. The row is then written again.
   * @throws {QueueLockError} `FOREIGN_FORMAT` when the schema belongs to another release
   */
  async requireFormat(format: number | null): Promise<void> {
    if (format === FORMAT) return;
    const { endpoint, schema } = this.#settings;
    if (format === null) {
      await this.ask(
        `${lockOf(schema)} insert into ${schema}.store select ${FORMAT}, 0 where not exists (select from ${schema}.store)`,
      );
      return;
    }
    const message = `${endpoint}: the schema ${schema} has format ${format}, and this release knows format ${FORMAT}; use that release, or another schema`;
    throw new QueueLockError('FOREIGN_FORMAT', message);
  }

  /** Creates the tables if `migrate` allows it. Concurrent calls share one attempt. */
  async #migrate(missing: unknown): Promise<void> {
    this.#migrating ??= this.#makeTables(missing).finally(() => {
      this.#migrating = undefined;
    });
    await this.#migrating;
  }

  async #makeTables(missing: unknown): Promise<void> {
    const { endpoint, schema, migrate } = this.#settings;
    const how = `ask its owner to run the statements of migration({ schema: '${schema}', role: … }) of @queuelock/postgres by psql`;
    const absent = `${endpoint}: the tables of queuelock do not exist in the schema ${schema}`;
    if (!migrate)
      throw new QueueLockError('ACCESS_DENIED', `${absent}, and migrate is false: ${how}`, {
        cause: missing,
      });
    try {
      await this.#pool.run(`${lockOf(schema)}${migrationOf(schema)}`);
    } catch (error) {
      // The tables exist already. If another client has just created them, the step of the caller succeeds
      // when it is repeated. If they belong to another program, it fails again.
      if (codeOf(error) === '42P07') return;
      if (isQueueLockError(error) || codeOf(error) !== '42501') throw asQueueLockError(error, this.#settings);
      const message = `${absent}, and this user may not create them (${(error as Error).message}): ${how}`;
      throw new QueueLockError('ACCESS_DENIED', message, { cause: error });
    }
  }
}

/**
 * Returns a statement that waits until no other client changes the schema, because concurrent changes would
 * conflict.
 */
function lockOf(schema: string): string {
  return `select pg_advisory_xact_lock(hashtext('queuelock'), hashtext('${schema}'));`;
}
