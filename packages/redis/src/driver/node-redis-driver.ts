import type { RedisClientOptions, RedisFunctions, RedisModules, RedisScripts } from 'redis';
import type { Address, Driver, Wire, WireEvents } from './driver.ts';
import { noted } from '../base/noted.ts';

/** Of a client that speaks the older protocol, which all servers and proxies know. */
export type ClientOptions = RedisClientOptions<RedisModules, RedisFunctions, RedisScripts, 2>;

/** As much of a client as is used. */
export interface Client {
  connect(): Promise<unknown>;
  sendCommand(args: string[]): Promise<unknown>;
  subscribe(channel: string, listener: Heard): Promise<void>;
  unsubscribe(channel: string, listener: Heard): Promise<void>;
  destroy(): void;
  on(event: string, listener: (error: unknown) => void): unknown;
  readonly isOpen: boolean;
}

type Heard = (message: string, channel: string) => void;

/** A client of ours by these options. */
export type MakeClient = (options: ClientOptions) => Client | Promise<Client>;

/** Over npm redis. */
export class NodeRedisDriver implements Driver {
  readonly endpoint: string;
  readonly #options: ClientOptions;
  readonly #make: MakeClient;

  constructor(endpoint: string, options: ClientOptions, make: MakeClient) {
    this.endpoint = endpoint;
    this.#options = options;
    this.#make = make;
  }

  async open({ onMessage, onEnd, signal }: WireEvents, at?: Address): Promise<Wire> {
    const client = await this.#make({
      ...this.#options,
      socket: { ...this.#options.socket, ...at, reconnectStrategy: false },
      RESP: 2,
      disableOfflineQueue: true,
      disableClientInfo: true,
      maintNotifications: 'disabled',
    });
    signal.throwIfAborted();
    const end = noted(onEnd);
    client.on('error', end);
    client.on('terminated', end);
    const close = (): void => {
      if (client.isOpen) client.destroy();
    };
    signal.addEventListener('abort', close);
    await client.connect();
    const listener: Heard = (message, channel) => {
      onMessage(channel, message);
    };
    return {
      send: (args) => client.sendCommand([...args]),
      subscribe: (channel) => client.subscribe(channel, listener),
      unsubscribe: (channel) => client.unsubscribe(channel, listener),
      close,
    };
  }
}
