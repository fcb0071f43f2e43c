import { closing } from '@queuelock/core/backend';
import type { RedisClientOptions, RedisFunctions, RedisModules, RedisScripts } from 'redis';
import { noted } from '../base/noted.ts';
import { checkMethods } from './check-client.ts';
import type { Address, Driver, Wire, WireEvents } from './driver.ts';
import { messageTo } from './messages.ts';

/** Of a client that speaks the older protocol, which all servers and proxies know. */
export type ClientOptions = RedisClientOptions<RedisModules, RedisFunctions, RedisScripts, 2>;

/** The same, where `undefined` takes an option away. */
export type ClientOverrides = {
  readonly [Name in Exclude<keyof ClientOptions, 'socket'>]?: ClientOptions[Name] | undefined;
} & { readonly socket: object };

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

type Heard = (message: unknown, channel: unknown) => void;

/** A client of ours by these options. */
export type MakeClient = (options: ClientOverrides) => Client | Promise<Client>;

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

  async open(events: WireEvents, at?: Partial<Address>): Promise<Wire> {
    const client = await this.#make(overridesAt(this.#options, at));
    checkMethods(client, 'redis');
    events.signal.throwIfAborted();
    const end = noted(events.onEnd);
    client.on('error', end);
    client.on('terminated', end);
    const close = closing(() => {
      if (client.isOpen) client.destroy();
    }, end);
    events.signal.addEventListener('abort', close);
    await client.connect();
    const onMessage = messageTo({ ...events, onEnd: end });
    const listener: Heard = (message, channel) => {
      onMessage(channel, message);
    };
    return {
      send: async (args) => client.sendCommand([...args]),
      subscribe: async (channel) => client.subscribe(channel, listener),
      unsubscribe: async (channel) => client.unsubscribe(channel, listener),
      close,
    };
  }
}

/**
 * One connection each, which either works or is over, and replies as the scripts expect them, whatever the client of the caller is set to.
 * Options that decide which data is read and written are not replaced: `checkClient` refuses those that do not fit.
 */
function overridesAt(
  { socket, ...options }: ClientOptions,
  at: Partial<Address> | undefined,
): ClientOverrides {
  return {
    ...options,
    // The client has copied what the url says into the other options. The url would win over the address of a redirect.
    url: undefined,
    socket: {
      ...socketAt(socket, at),
      reconnectStrategy: false,
      // A connection that listens is silent for long.
      socketTimeout: undefined,
    },
    RESP: 2,
    commandOptions: {},
    clientSideCache: undefined,
    emitInvalidate: false,
    commandsQueueMaxLength: undefined,
    readonly: false,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
  };
}

/** Another server is reached by its address also where this one is reached by the path of a Unix socket. */
function socketAt(socket: ClientOptions['socket'] = {}, at: Partial<Address> | undefined): object {
  if (!at) return socket;
  const others = Object.entries(socket).filter(([name]) => name !== 'path');
  return { ...Object.fromEntries(others), ...at };
}
