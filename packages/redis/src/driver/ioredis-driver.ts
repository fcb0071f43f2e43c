import { closing } from '@queuelock/core/backend';
import { noted } from '../base/noted.ts';
import { checkMethods } from './check-client.ts';
import type { Address, Driver, Wire, WireEvents } from './driver.ts';
import { messageTo } from './messages.ts';

/** As much of a connection of ioredis as is used. */
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
 * One connection each, which either works or is over, and replies as the scripts expect them, whatever the connection of the caller is set
 * to. Options that decide which data is read and written are not replaced: `checkClient` refuses those that do not fit.
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
  // A server that loads says so by itself, and INFO may be denied.
  enableReadyCheck: false,
  // A connection that listens is silent for long, and requests have a timeout of their own.
  commandTimeout: undefined,
  socketTimeout: undefined,
  stringNumbers: false,
  monitor: false,
  readOnly: false,
  // Of ioredis 6.
  protocol: 2,
  replyMapping: 'legacy',
};

/** Over duplicates of a connection of ioredis, which stays as it is. */
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
