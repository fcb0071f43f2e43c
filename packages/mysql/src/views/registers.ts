import { randomBytes } from 'node:crypto';
import {
  checkedRegisterKind,
  checkedRegisterText,
  isQueueLockError,
  type Register,
  type Registers,
} from '@queuelock/core/backend';
import type { Connection } from '../session/connection.ts';
import { literal, literals, textOf } from '../queue/sql.ts';

const EVERY_MS = 100;

/** The registers of the database. An empty register has no row. Each step is one statement. */
export function registersOf(connection: () => Connection): Registers {
  const read = async (queue: string, kind: string): Promise<Register | undefined> => {
    const [row] = await connection().steps.read<{ readonly version: unknown; readonly text: unknown }>(
      `select version, text from queuelock_register where ${rowOf(queue, kind)}`,
    );
    return row && { text: textOf(row.text), version: String(row.version) };
  };
  return {
    read,
    async write(queue, kind, { text, was }) {
      const { steps, observers } = connection();
      const written = await steps.write(changeOf(queue, kind, { text, was })).catch(ifTaken);
      observers.readSoon();
      return text === undefined && was === undefined ? written === 0 : written > 0;
    },
    observe: (queue, kind) =>
      connection().observers.watch({ read: () => read(queue, kind), everyMs: EVERY_MS }),
  };
}

function changeOf(
  queue: string,
  kind: string,
  { text, was }: { readonly text: string | undefined; readonly was: string | undefined },
): string {
  const where = `where ${rowOf(queue, kind)}`;
  // Nothing changes when an empty register is emptied. The statement only checks that the register
  // is empty.
  if (text === undefined && was === undefined)
    return `update queuelock_register set version = version ${where}`;
  if (text === undefined)
    return `delete from queuelock_register ${where} and version = ${literal(was ?? '')}`;
  checkedRegisterText(text);
  // The version is random, so that it differs from all earlier versions even after the register was empty.
  const version = randomBytes(12).toString('hex');
  if (was === undefined)
    return `insert into queuelock_register (queue, kind, version, text) values (${literals([queue, kind, version, text])})`;
  return `update queuelock_register set version = ${literal(version)}, text = ${literal(text)} ${where} and version = ${literal(was)}`;
}

function rowOf(queue: string, kind: string): string {
  return `queue = ${literal(queue)} and kind = '${checkedRegisterKind(kind)}'`;
}

const ENTERED_TWICE = 1062;

/**
 * Returns 0, the number of changed rows, if the error means that another client has written the empty
 * register first. Rethrows any other error.
 */
function ifTaken(error: unknown): number {
  const cause: unknown = isQueueLockError(error) ? error.cause : undefined;
  if (cause instanceof Error && 'errno' in cause && cause.errno === ENTERED_TWICE) return 0;
  throw error;
}
