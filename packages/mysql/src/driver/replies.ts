import { inspect } from 'node:util';
import { invalidArgument } from '@queuelock/core/backend';
import { textOf } from '../queue/sql.ts';
import type { Wire } from './driver.ts';

/**
 * A query that returns one value of each kind that the procedures return: a small and a large number, a sum
 * (a decimal), a text as bytes, and null.
 */
const PROBE = `select 7 as small, 1900000000000001 as large, cast(7 as decimal(20, 0)) as total, x'74657874' as bytes, null as nothing,
  @@autocommit as autocommit, @@completion_type as completion_type, @@sql_big_selects as sql_big_selects`;

/**
 * Verifies that rows arrive in a form that steps read correctly. With the pool options `decimalNumbers`,
 * `supportBigNumbers`, `bigNumberStrings` and `dateStrings`, steps still read rows correctly. A wrapper of
 * the pool, or another package, may change rows.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the pool changes rows
 */
export async function proveReplies(wire: Pick<Wire, 'query'>): Promise<void> {
  const rows = await wire.query(PROBE);
  const [row, ...others] = Array.isArray(rows) ? (rows as object[]) : [];
  if (row && others.length === 0 && isAsSent(row)) {
    requireSettings(row);
    return;
  }
  const rule =
    'returns rows as the server sent them, as [rows, fields]; use a pool of mysql2/promise or npm mariadb without wrappers that change rows';
  throw invalidArgument('pool', inspect(rows), rule);
}

/**
 * Settings that a pool's connection must have, so that the backend's statements work on it: their allowed
 * values, and the reason.
 */
const SETTINGS: readonly {
  readonly name: string;
  readonly values: readonly string[];
  readonly set: string;
  readonly why: string;
}[] = [
  { name: 'autocommit', values: ['1'], set: '1', why: 'steps are committed one by one' },
  {
    name: 'completion_type',
    values: ['NO_CHAIN', '0'],
    set: "'NO_CHAIN'",
    why: 'no step leaves a transaction open or ends its connection',
  },
  {
    name: 'sql_big_selects',
    values: ['1'],
    set: '1',
    why: 'a limit of rows (max_join_size) hides no entries',
  },
];

/**
 * Checks the settings of a pool's connection. A simulated pool without a server returns no settings, and is
 * not checked.
 */
function requireSettings(row: object): void {
  for (const { name, values, set, why } of SETTINGS) {
    const value: unknown = Reflect.get(row, name);
    if (value === undefined || values.includes(textOf(value))) continue;
    const rule = `must be ${set}, so that ${why}: use another pool for locks, the option url, or set ${name} = ${set} for its connections`;
    throw invalidArgument(`${name} of the connections of pool`, textOf(value), rule);
  }
}

function isAsSent(row: unknown): boolean {
  const { small, large, total, bytes, nothing } = (row ?? {}) as Readonly<Record<string, unknown>>;
  return (
    Number(small) === 7 &&
    String(large) === '1900000000000001' &&
    Number(total) === 7 &&
    textOf(bytes) === 'text' &&
    nothing === null
  );
}

/** The result of a statement that returns no rows, such as an update. */
interface Header {
  readonly affectedRows: unknown;
}

export function isHeader(part: unknown): part is Header {
  if (typeof part !== 'object' || part === null || !('affectedRows' in part)) return false;
  // Distinguishes a header from rows: a header of npm mysql2 has `serverStatus`, and a header of npm mariadb
  // has `warningStatus`.
  return 'serverStatus' in part || 'warningStatus' in part;
}

/**
 * Returns the rows or the header, which are the first item of the pair `[rows, fields]`.
 * @throws {Error} when the value is no result of npm mysql2 or npm mariadb
 */
export function rowsOrHeaderOf(result: unknown): unknown {
  const [first] = Array.isArray(result) ? (result as unknown[]) : [];
  if (Array.isArray(first) || isHeader(first)) return first;
  throw new Error('the client library returned something else than [rows, fields]');
}
