import { backoffDelay, unreadableReply } from '@queuelock/core/backend';
import type { Wire } from '../driver/driver.ts';
import { isHeader } from '../driver/replies.ts';
import { isAbsence, isWorthAgain } from '../driver/errors.ts';
import type { Link } from './link.ts';
import { CREATION_TIMEOUT_S, createTables, hasTables } from './opening.ts';
import { MAX_ROWS, literals, type Value } from '../queue/sql.ts';

/** A row that a procedure returns. The procedure determines the meaning of the columns `a` to `d`. */
export interface Row {
  readonly word: string;
  readonly a: unknown;
  readonly b: unknown;
  readonly c: unknown;
  readonly d: unknown;
}

/** The reply of the server to a call of a procedure. */
export interface Answer {
  /**
   * Outcome of the step.
   * - `lost`: the session has ended.
   * - `removed`: the entry was removed and must not be added again.
   * - `busy`: the entry was not added, because it would have to wait.
   * - `other`: the stored entry with that id has other properties.
   */
  readonly word: string;
  /** The last row of the reply, which contains the outcome. */
  readonly row: Row;
  /** The rows of the reply before the last row. */
  readonly rows: readonly Row[];
}

const NO_ROW: Row = { word: '', a: undefined, b: undefined, c: undefined, d: undefined };
/**
 * The outcomes that the last row of a procedure's reply may contain. The outcome `entry` marks each row of
 * the procedure `queuelock_look`, which reads entries.
 */
const WORDS: ReadonlySet<string> = new Set(['ok', 'lost', 'removed', 'busy', 'other', 'entry']);
/** The procedures that return no row. A reply without a row is an error for all other procedures. */
const SILENT: ReadonlySet<string> = new Set(['tidy', 'sweep', 'mend']);

/**
 * Callback for each entry that a step of this process admits. It receives the id of the session, and the
 * entry's order number and id as `number/id`.
 */
export type OnTurn = (session: string, ref: string) => void;

// Backoff in milliseconds after a step whose transaction conflicted with another one. It is short, because
// the server has already rolled the step back, and the other transaction proceeds.
const AGAIN = { initialDelayMs: 4, maxDelayMs: 64 };
// Timeouts for creating the tables, in milliseconds. They are longer than that of a step, because the server writes each table to disk before it
// creates the next one.
const CREATION = { withinMs: 30_000, statementMs: (CREATION_TIMEOUT_S + 2) * 1_000 };

/** Options of the steps of a client or a heartbeat thread. */
interface StepsOptions {
  /** Called for each entry that a step of this process admits, also for entries of other processes. */
  readonly onTurn: OnTurn;
  /** Whether to check before the first step that the tables exist, and to create absent ones. */
  readonly migrate: boolean;
}

/** Runs steps on the store. Each step is one round trip, once the tables are known to exist. */
export class Steps {
  readonly #link: Link;
  readonly #onTurn: OnTurn;
  readonly #migrates: boolean;
  #isReady: Promise<void> | undefined;
  #isIncomplete = false;

  constructor(link: Link, { onTurn, migrate }: StepsOptions) {
    this.#link = link;
    this.#onTurn = onTurn;
    this.#migrates = migrate;
  }

  /** Calls a procedure. Renewals bypass the limit of concurrent steps. @throws {QueueLockError} the error that `asQueueLockError` returns */
  async take(procedure: string, ...values: readonly Value[]): Promise<Answer> {
    const text = `call queuelock_${procedure}(${literals(values)})`;
    const rows = await this.#request(text, procedure === 'renew');
    for (const { word, a, b } of rows) if (word === 'turn') this.#onTurn(String(a), String(b));
    const output = rows.filter(({ word }) => word !== 'turn');
    const row = output.at(-1) ?? NO_ROW;
    if (WORDS.has(row.word) || (SILENT.has(procedure) && row === NO_ROW))
      return { word: row.word, row, rows: output.slice(0, -1) };
    throw unreadableReply(this.#link.endpoint, `the step ${procedure}`, rows);
  }

  /**
   * Runs a statement that only reads. A `select` must have no LIMIT clause, because this method adds one.
   * @throws {QueueLockError} the error that `asQueueLockError` returns
   */
  async read<T>(sql: string): Promise<readonly T[]> {
    // The application may have set `sql_select_limit` on a connection of its pool. The explicit limit
    // overrides that variable.
    return this.#request<T>(sql.startsWith('select') ? `${sql} limit ${MAX_ROWS}` : sql, false);
  }

  /** Runs a statement that writes. @returns the count of changed rows @throws {QueueLockError} the error that `asQueueLockError` returns */
  async write(sql: string): Promise<number> {
    const response = await this.#take((wire) => wire.query(sql), false);
    if (isHeader(response) && typeof response.affectedRows === 'number') return response.affectedRows;
    throw unreadableReply(this.#link.endpoint, 'a statement that writes', response);
  }

  async #request<T = Row>(sql: string, isUrgent: boolean): Promise<readonly T[]> {
    return rowsOf(await this.#take((wire) => wire.query(sql), isUrgent)) as readonly T[];
  }

  async #take(request: (wire: Wire) => Promise<unknown>, isUrgent: boolean): Promise<unknown> {
    if (this.#migrates) await this.#ready();
    return this.#link.take(
      async (wire, leftMs) => {
        for (let attempt = 0; ; attempt += 1) {
          try {
            return await request(wire);
          } catch (error) {
            if (isAbsence(error)) {
              this.#isReady = undefined;
              this.#isIncomplete = true;
            }
            const pauseMs = backoffDelay(attempt, AGAIN, this.#link.clock);
            if (!isWorthAgain(error) || leftMs() < 2 * pauseMs) throw error;
            await new Promise<void>((resolve) => this.#link.clock.after(pauseMs, resolve));
          }
        }
      },
      { isUrgent },
    );
  }

  /**
   * Makes sure that the tables exist. Checks that only once, and again after a failure or when a step has
   * found a table or procedure absent.
   */
  async #ready(): Promise<void> {
    const ready = (this.#isReady ??= this.#makeReady());
    try {
      await ready;
      this.#isIncomplete = false;
    } catch (error) {
      if (this.#isReady === ready) this.#isReady = undefined;
      throw error;
    }
  }

  /**
   * Checks the tables, and creates them if they are absent. The check has the timeout of a step. So a server
   * that accepts connections and never replies is detected as early as in any other step.
   */
  async #makeReady(): Promise<void> {
    const { endpoint } = this.#link;
    if (!this.#isIncomplete && (await this.#link.take((wire) => hasTables(wire, endpoint)))) return;
    await this.#link.take((wire) => createTables(wire, endpoint, this.#isIncomplete), CREATION);
  }
}

/**
 * Returns the rows of all result sets that a call of a procedure returns. The header that ends the result
 * contains no rows, and differs between npm mysql2 and npm mariadb.
 */
function rowsOf(response: unknown): readonly object[] {
  if (!Array.isArray(response)) return [];
  return response.flatMap((part: unknown) => {
    if (Array.isArray(part)) return part as object[];
    return isHeader(part) ? [] : [part as object];
  });
}
