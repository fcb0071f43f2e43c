import type { Address, Driver, Wire, WireEvents } from './driver.ts';
import { noted } from '../base/noted.ts';

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

// One connection each, which either works or is over.
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
  keyPrefix: '',
};

/** Over duplicates of a connection of ioredis, which stays as it is. */
export class IoRedisDriver implements Driver {
  readonly endpoint: string;
  readonly #template: IoRedis;

  constructor(endpoint: string, template: IoRedis) {
    this.endpoint = endpoint;
    this.#template = template;
  }

  async open({ onMessage, onEnd, signal }: WireEvents, at?: Address): Promise<Wire> {
    const connection = this.#template.duplicate({ ...OURS, ...(at && { ...at, sentinels: null }) });
    const end = noted(onEnd);
    let failure: unknown;
    connection.on('error', (error: unknown) => {
      failure = error;
    });
    connection.on('end', () => {
      end(failure ?? new Error('the connection was closed'));
    });
    connection.on('message', (channel: string, message: string) => {
      onMessage(channel, message);
    });
    const close = (): void => {
      connection.disconnect();
    };
    signal.addEventListener('abort', close);
    try {
      await connection.connect();
    } catch (error) {
      close();
      throw failure ?? error;
    }
    return {
      send: ([command = '', ...args]) => connection.call(command, ...args),
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
