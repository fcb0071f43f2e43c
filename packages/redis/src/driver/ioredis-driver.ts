import { closing } from '@queuelock/core/backend';
import { noted } from '../base/noted.ts';
import { checkMethods } from './check-methods.ts';
import type { Address, Driver, Wire, WireEvents } from './driver.ts';
import { messageTo } from './messages.ts';

/** The part of a connection of ioredis that the driver uses. */
export interface IoRedis {
  duplicate(overrides: object): IoRedis;
  connect(): Promise<void>;
  call(command: string, ...args: string[]): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  disconnect(): void;
  on(event: string, listener: (...args: never[]) => void): unknown;
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * Overrides for the duplicates of the caller's connection. They switch off reconnecting and queueing. Replies arrive as the server sends
 * them, in RESP 2. Options that decide which data is read and written are not overridden: `checkClient` refuses unsuitable ones.
 */
const OURS = {
  lazyConnect: true,
  retryStrategy: () => null,
  sentinelRetryStrategy: () => null,
  reconnectOnError: null,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  enableAutoPipelining: false,
  // The ready check sends INFO, which the user may not be allowed to call. It is not needed: a server that
  // is loading its data returns an error for each command.
  enableReadyCheck: false,
  // Removes the caller's timeouts, since a connection for notifications may receive nothing for long and still
  // be intact. The backend limits the time of each request itself.
  commandTimeout: undefined,
  socketTimeout: undefined,
  stringNumbers: false,
  monitor: false,
  readOnly: false,
  // The options `protocol` and `replyMapping` exist from ioredis 6 on.
  protocol: 2,
  replyMapping: 'legacy',
};

/** Opens connections as duplicates of the caller's connection of ioredis, which is not changed. */
export class IoRedisDriver implements Driver {
  readonly endpoint: string;
  readonly #template: IoRedis;

  constructor(endpoint: string, template: IoRedis) {
    this.endpoint = endpoint;
    this.#template = template;
  }

  async open(events: WireEvents, at?: Partial<Address>): Promise<Wire> {
    const connection = this.#template.duplicate({
      ...OURS,
      ...(at && { ...at, path: undefined, sentinels: null }),
    });
    checkMethods(connection, 'ioredis');
    const end = noted(events.onEnd);
    let failure: unknown;
    connection.on('error', (error: unknown) => {
      failure = error;
    });
    connection.on('end', () => {
      end(failure ?? new Error('the connection was closed'));
    });
    connection.on('message', messageTo({ ...events, onEnd: end }));
    const close = closing(() => {
      connection.disconnect();
    }, end);
    events.signal.addEventListener('abort', close);
    try {
      await connection.connect();
    } catch (error) {
      close();
      throw failure ?? error;
    }
    return {
      send: async ([command = '', ...args]) => connection.call(command, ...args),
      subscribe: async (channel) => {
        await connection.subscribe(channel);
      },
      unsubscribe: async (channel) => {
        await connection.unsubscribe(channel);
      },
      close,
    };
  }
}
