import { closing } from '@queuelock/core/backend';
import type { RedisClientOptions, RedisFunctions, RedisModules, RedisScripts } from 'redis';
import { noted } from '../base/noted.ts';
import { checkMethods } from './check-methods.ts';
import type { Address, Driver, Wire, WireEvents } from './driver.ts';
import { messageTo } from './messages.ts';

/** Options of a client of npm redis. They select version 2 of the protocol, which all servers and proxies support. */
export type ClientOptions = RedisClientOptions<RedisModules, RedisFunctions, RedisScripts, 2>;

/** Options that override those of a client; `undefined` removes an option. */
export type ClientOverrides = {
  readonly [Name in Exclude<keyof ClientOptions, 'socket'>]?: ClientOptions[Name] | undefined;
} & { readonly socket: object };

/** The part of a client of npm redis that the driver uses. */
export interface Client {
  connect(): Promise<unknown>;
  sendCommand(args: string[]): Promise<unknown>;
  subscribe(channel: string, listener: MessageListener): Promise<void>;
  unsubscribe(channel: string, listener: MessageListener): Promise<void>;
  destroy(): void;
  on(event: string, listener: (error: unknown) => void): unknown;
  readonly isOpen: boolean;
}

type MessageListener = (message: unknown, channel: unknown) => void;

/** Creates a client of npm redis with the given options. */
export type MakeClient = (options: ClientOverrides) => Client | Promise<Client>;

/** Returns the options of npm redis for a new connection, with the latest credentials and certificates. */
export type OptionsNow = () => ClientOptions | Promise<ClientOptions>;

/** Opens connections by npm redis. */
export class NodeRedisDriver implements Driver {
  readonly endpoint: string;
  readonly #optionsNow: OptionsNow;
  readonly #make: MakeClient;

  constructor(endpoint: string, optionsNow: OptionsNow, make: MakeClient) {
    this.endpoint = endpoint;
    this.#optionsNow = optionsNow;
    this.#make = make;
  }

  async open(events: WireEvents, at?: Partial<Address>): Promise<Wire> {
    const options = await this.#optionsNow();
    events.signal.throwIfAborted();
    const client = await this.#make(overridesAt(options, at));
    checkMethods(client, 'redis');
    events.signal.throwIfAborted();
    const end = noted(events.onEnd);
    client.on('error', end);
    client.on('terminated', end);
    const { close, opened } = destroying(client, end);
    events.signal.addEventListener('abort', close);
    client.on('connect', opened);
    await client.connect();
    opened();
    const onMessage = messageTo({ ...events, onEnd: end });
    const listener: MessageListener = (message, channel) => {
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
 * Returns two functions: `close` destroys the client, and `opened` must be called when the client has a socket. While the client is still
 * opening its socket, `close` leaves the destruction to `opened`. Otherwise npm redis would lose track of the socket, which would stay open
 * and keep the process alive.
 */
function destroying(
  client: Client,
  onFailure: (error: unknown) => void,
): { readonly close: () => void; readonly opened: () => void } {
  let hasSocket = false;
  let isUnwanted = false;
  const close = closing(() => {
    isUnwanted = true;
    if (hasSocket && client.isOpen) client.destroy();
  }, onFailure);
  const opened = (): void => {
    hasSocket = true;
    if (isUnwanted) close();
  };
  return { close, opened };
}

/**
 * Returns the client's options with overrides. They switch off reconnecting and queueing. Replies arrive as the server sends them, in RESP
 * 2. Options that decide which data is read and written are not overridden: `checkClient` refuses unsuitable ones.
 */
function overridesAt(
  { socket, ...options }: ClientOptions,
  at: Partial<Address> | undefined,
): ClientOverrides {
  return {
    ...options,
    // Removes the URL, since npm redis has copied its parts into the other options. The URL would override
    // the address to which the server redirects a command.
    url: undefined,
    socket: {
      ...socketAt(socket, at),
      reconnectStrategy: false,
      // Removes the timeout of an idle socket, because a connection for notifications may receive nothing for
      // long.
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

/**
 * Returns the options of a socket to the server at the address `at`, if there is one. Removes the path of a Unix socket, since it leads to the server
 * of the original options.
 */
function socketAt(socket: ClientOptions['socket'] = {}, at: Partial<Address> | undefined): object {
  if (!at) return socket;
  const others = Object.entries(socket).filter(([name]) => name !== 'path');
  return { ...Object.fromEntries(others), ...at };
}
