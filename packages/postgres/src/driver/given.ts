import { invalidArgument } from '@queuelock/core/backend';
import type { Driver, Wire, WireEvents } from './driver.ts';

/** As much of a pool of npm pg as is used. */
export interface Given {
  /** A connection to use alone, until it is released. */
  connect(): Promise<GivenClient>;
  readonly options?: object;
}

/** A connection of such a pool. */
export interface GivenClient extends Queryable {
  /** Gives it back; with `true` or an error it is closed. */
  release(broken?: Error | boolean): void;
}

/** As much of a connection as is used. */
export interface Queryable {
  /** Sends one statement. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows?: readonly Record<string, unknown>[] }>;
  /** Tells of `notification`, `error` and `end`. */
  on(event: string, listener: (told: unknown) => void): unknown;
  /** Tells that listener no more. */
  removeListener(event: string, listener: (told: unknown) => void): unknown;
}

interface Notification {
  readonly channel: string;
  readonly payload?: string;
}

interface Shown {
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly connectionString?: string;
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` */
export function givenDriver(pool: Given): Driver {
  if (typeof Reflect.get(pool, 'connect') !== 'function' || 'release' in pool || 'activeQuery' in pool)
    throw invalidArgument('pool', pool, 'is a Pool of npm pg, and not one of its clients');
  return {
    endpoint: endpointOf(pool.options ?? {}),
    isShared: true,
    async open(events) {
      const client = await pool.connect();
      if (events.signal.aborted) {
        client.release();
        events.signal.throwIfAborted();
      }
      return wireOf(client, events, (broken) => {
        client.release(broken);
      });
    },
  };
}

/** A connection that is open. */
export function wireOf(client: Queryable, events: WireEvents, release: (broken: boolean) => void): Wire {
  let isOver = false;
  const onMessage = (told: unknown): void => {
    const { channel, payload = '' } = told as Notification;
    events.onMessage(channel, payload);
  };
  const onEnd = (error?: unknown): void => {
    if (!isOver) events.onEnd(error ?? new Error('the server closed the connection'));
  };
  client.on('notification', onMessage);
  client.on('error', onEnd);
  client.on('end', onEnd);
  return {
    async query(text, values) {
      const { rows } = await client.query(text, values && [...values]);
      return rows ?? [];
    },
    release(broken) {
      if (isOver) return;
      isOver = true;
      for (const [event, listener] of [
        ['notification', onMessage],
        ['end', onEnd],
        ['error', onEnd],
      ] as const)
        client.removeListener(event, listener);
      // A connection that breaks once more breaks nobody.
      if (broken) client.on('error', () => undefined);
      release(broken);
    },
  };
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
