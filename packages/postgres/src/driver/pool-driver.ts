import { checkConnection, checkPool } from './check-pool.ts';
import type { Driver } from './driver.ts';
import type { PgPoolLike } from './pool-like.ts';
import { proveReplies } from './replies.ts';
import { wireOf } from './wire.ts';

/**
 * Creates the driver for a pool that the application passes.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the pool cannot be used
 */
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

interface Shown {
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly connectionString?: string;
}

/** Numbers of connections and of waiting requests of a pool of npm pg, and its options. */
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

/** Returns the address of a pool's server. It never contains a password, even if the connection string does. */
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
