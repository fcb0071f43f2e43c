import { backoffDelay } from '@queuelock/core/backend';
import type { Wire } from '../driver/driver.ts';
import { isAbsence, isWorthAgain } from '../driver/errors.ts';
import type { Link } from './link.ts';
import { makeReady } from './opening.ts';
import { literals, type Value } from '../queue/sql.ts';

/** What a procedure says, a row each. */
export interface Row {
  readonly word: string;
  readonly a: unknown;
  readonly b: unknown;
  readonly c: unknown;
  readonly d: unknown;
}

/** What a step answers. */
export interface Answer {
  /** `lost`: the session has ended. `removed`: the entry is never to be there. `busy`: it would have to wait. `other`: it is another one than is wished for. */
  readonly word: string;
  /** The last row. */
  readonly row: Row;
  /** Those before it. */
  readonly rows: readonly Row[];
}

/** An entry was admitted. */
export type OnTurn = (session: string, ord: string) => void;

// A victim of a deadlock tries again soon: who was in its way has gone on.
const AGAIN = { initialDelayMs: 4, maxDelayMs: 64 };
// Each table that is made is on the disk before the next.
const MAKING_MS = 30_000;

/** Takes steps on the store: one round trip each, once the tables are known to be there. */
export class Steps {
  readonly #link: Link;
  readonly #onTurn: OnTurn;
  #isReady: Promise<void> | undefined;
  #isIncomplete = false;

  constructor(link: Link, onTurn: OnTurn) {
    this.#link = link;
    this.#onTurn = onTurn;
  }

  /** @throws {QueueLockError} */
  async take(procedure: string, ...values: readonly Value[]): Promise<Answer> {
    const text = `call queuelock_${procedure}(${literals(values)})`;
    const rows = await this.#ask(text, procedure === 'renew');
    for (const { word, a, b } of rows) if (word === 'turn') this.#onTurn(String(a), String(b));
    const said = rows.filter(({ word }) => word !== 'turn');
    const row = said.at(-1) ?? { word: '', a: undefined, b: undefined, c: undefined, d: undefined };
    return { word: row.word, row, rows: said.slice(0, -1) };
  }

  /** A statement that reads. @throws {QueueLockError} */
  async read<T>(sql: string): Promise<readonly T[]> {
    return this.#ask<T>(sql, false);
  }

  /** A statement that writes; how many rows it did. @throws {QueueLockError} */
  async write(sql: string): Promise<number> {
    const answer = await this.#take((wire) => wire.query(sql), false);
    return Number((answer as { readonly affectedRows?: unknown }).affectedRows);
  }

  async #ask<T = Row>(sql: string, isUrgent: boolean): Promise<readonly T[]> {
    return rowsOf(await this.#take((wire) => wire.query(sql), isUrgent)) as readonly T[];
  }

  async #take(ask: (wire: Wire) => Promise<unknown>, isUrgent: boolean): Promise<unknown> {
    await this.#ready();
    return this.#link.take(
      async (wire, leftMs) => {
        for (let attempt = 0; ; attempt += 1) {
          try {
            return await ask(wire);
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

  /** Once, unless it fails. */
  async #ready(): Promise<void> {
    const { endpoint } = this.#link;
    this.#isReady ??= this.#link.take((wire) => makeReady(wire, endpoint, this.#isIncomplete), {
      withinMs: MAKING_MS,
    });
    const ready = this.#isReady;
    try {
      await ready;
      this.#isIncomplete = false;
    } catch (error) {
      if (this.#isReady === ready) this.#isReady = undefined;
      throw error;
    }
  }
}

/** The rows of all result sets; what a call answers last says only that it is over. */
function rowsOf(answer: unknown): readonly object[] {
  if (!Array.isArray(answer)) return [];
  return answer.flatMap((part: unknown) => {
    if (Array.isArray(part)) return part as object[];
    return isHeader(part) ? [] : [part as object];
  });
}

function isHeader(part: unknown): boolean {
  return typeof part === 'object' && part !== null && 'affectedRows' in part && 'serverStatus' in part;
}
