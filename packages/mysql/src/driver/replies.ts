import { inspect } from 'node:util';
import { invalidArgument } from '@queuelock/core/backend';
import { textOf } from '../queue/sql.ts';
import type { Wire } from './driver.ts';

/** Returns each kind of value that steps return: a small and a large number, a sum (a decimal), a text as bytes, and null. */
const PROBE = `select 7 as small, 1900000000000001 as large, cast(7 as decimal(20, 0)) as total, x'74657874' as bytes, null as nothing`;

/**
 * Verifies that rows arrive in a form that steps read correctly. The options `decimalNumbers`, `supportBigNumbers`, `bigNumberStrings` and
 * `dateStrings` of a pool do no harm. A wrapper or another package may.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the pool changes rows
 */
export async function proveReplies(wire: Wire): Promise<void> {
  const rows = await wire.query(PROBE);
  if (Array.isArray(rows) && rows.length === 1 && isAsSent(rows[0])) return;
  const rule =
    'returns rows as the server sent them, as [rows, fields]; use a pool of mysql2/promise or npm mariadb without wrappers that change rows';
  throw invalidArgument('pool', inspect(rows), rule);
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
