import { checkConnection, checkPool } from './check-pool.ts';
import type { Driver } from './driver.ts';
import { proveReplies } from './replies.ts';
import { wireOf } from './wire.ts';

/** As much of a pool of npm pg as is used. */
export interface PgPoolLike {
  /** A connection to use alone, until it is released. */
  connect(): Promise<PgClientLike>;
  readonly options?: object;
}

/** A connection of such a pool. */
export interface PgClientLike extends PgQueryable {
  /** Gives it back; with `true` or an error it is closed. */
  release(broken?: Error | boolean): void;
}

/** One statement, and how its columns are read. */
export interface Statement {
  readonly text: string;
  readonly values?: unknown[];
  readonly types: {
    /** Returns the parser of a column's type, by the type's object id. */
    getTypeParser(oid: number): (text: string) => unknown;
  };
}

/** As much of a connection as is used. */
export interface PgQueryable {
  /** Sends one statement. */
  query(statement: Statement): Promise<{ readonly rows?: readonly Record<string, unknown>[] }>;
  /** Tells of `notification`, `error` and `end`. */
  on(event: string, listener: (told: unknown) => void): unknown;
  /** Tells that listener no more. */
  removeListener(event: string, listener: (told: unknown) => void): unknown;
}

interface Shown {
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly connectionString?: string;
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` */
export function givenDriver(pool: PgPoolLike): Driver {
  checkPool(pool);
  let isProven = false;
  return {
    endpoint: endpointOf(pool.options ?? {}),
    isShared: true,
    exhaustion: () => exhaustionOf(pool),
    async open(events) {
      const client = await pool.connect();
      checkConnection(client);
      const wire = wireOf(client, events, (broken) => {
        client.release(broken);
      });
      const giveUp = (): void => {
        wire.release(!isProven);
      };
      if (events.signal.aborted) giveUp();
      events.signal.throwIfAborted();
      if (isProven) return wire;
      events.signal.addEventListener('abort', giveUp, { once: true });
      try {
        await proveReplies(wire);
      } catch (error) {
        giveUp();
        throw error;
      }
      events.signal.removeEventListener('abort', giveUp);
      isProven = true;
      return wire;
    },
  };
}

/** What npm pg counts of a pool. */
interface Counts {
  readonly totalCount?: unknown;
  readonly idleCount?: unknown;
  readonly waitingCount?: unknown;
  readonly options?: { readonly max?: unknown };
}

function exhaustionOf({ totalCount, idleCount, waitingCount, options }: Counts): string | undefined {
  const max = options?.max;
  if (typeof max !== 'number' || typeof totalCount !== 'number' || totalCount < max || idleCount !== 0)
    return undefined;
  return `all ${max} connections of the pool are in use, and ${Number(waitingCount)} requests wait for one: set its option max to at least 2 more than the application uses at a time`;
}

/** Where it leads to; a text with a password in it is not repeated. */
function endpointOf({ host, port, database, connectionString }: Shown): string {
  if (host === undefined && connectionString !== undefined) {
    try {
      const { host: found, pathname } = new URL(connectionString);
      return `postgres://${found}${pathname}`;
    } catch {
      return 'postgres://(a pool)';
    }
  }
  const at = host?.includes(':') ? `[${host}]` : (host ?? '127.0.0.1');
  return `postgres://${at}:${port ?? 5432}${database === undefined ? '' : `/${database}`}`;
}
