import { createConnection } from 'node:net';
import type { NetConnectOpts, Socket } from 'node:net';
import { requireMethods } from '@queuelock/core/backend';
import type { Options, Sql } from 'postgres';
import type { Driver, Wire, WireEvents } from './driver.ts';
import { refuseWithoutLibrary } from './errors.ts';
import { JSON_TYPE, encodeValues } from './postgres-js-values.ts';
import { proveReplies } from './replies.ts';

/** The options of a connection that postgres.js opens. */
export type PostgresJsConfig = Pick<
  Options<Record<string, never>>,
  | 'database'
  | 'username'
  | 'password'
  | 'ssl'
  | 'connection'
  | 'keep_alive'
  | 'prepare'
  | 'target_session_attrs'
> & {
  /** Opens the socket, which is connected when the promise resolves. */
  readonly connect: () => Promise<Socket> | Socket;
};

/**
 * Opens connections with postgres.js. Each is an instance of postgres.js with one connection. So no statement
 * of queuelock waits for statements of the application.
 */
export class PostgresJsDriver implements Driver {
  readonly endpoint: string;
  readonly isShared = false;
  readonly #configNow: () => Promise<PostgresJsConfig>;
  #isProven = false;

  /** @param configNow returns the options of a new connection */
  constructor(endpoint: string, configNow: () => Promise<PostgresJsConfig>) {
    this.endpoint = endpoint;
    this.#configNow = configNow;
  }

  async open(events: WireEvents): Promise<Wire> {
    // An application that does not use postgres.js need not install it. `webpackIgnore` keeps webpack from
    // refusing the missing package.
    const [{ default: postgres }, config] = await Promise.all([
      import(/* webpackIgnore: true */ 'postgres').catch((error: unknown) =>
        refuseWithoutLibrary('postgres', error),
      ),
      this.#configNow(),
    ]);
    events.signal.throwIfAborted();
    const connection = new Connection(config, events);
    const wire = connection.wireOf(postgres(connection.options));
    const giveUp = (): void => {
      wire.release(true);
    };
    events.signal.addEventListener('abort', giveUp);
    try {
      // Sends a statement, because postgres.js connects only at the first statement.
      if (this.#isProven) await wire.query('select 1');
      else await proveReplies(wire);
    } catch (error) {
      giveUp();
      throw error;
    } finally {
      events.signal.removeEventListener('abort', giveUp);
    }
    this.#isProven = true;
    return wire;
  }
}

/** One connection of postgres.js. It is never used after its end, because postgres.js would then connect again. */
class Connection {
  readonly options: Options<Record<string, never>> & { readonly socket: () => Promise<Socket> };
  readonly #events: WireEvents;
  #socket: Socket | undefined;
  #isOver = false;

  constructor({ connect, ...config }: PostgresJsConfig, events: WireEvents) {
    this.#events = events;
    this.options = {
      ...config,
      ...{ max: 1, idle_timeout: 0, max_lifetime: 0, connect_timeout: 0, fetch_types: false },
      types: JSON_TYPE as never,
      onnotice: () => undefined,
      onclose: () => {
        this.#end(new Error('the server closed the connection'));
      },
      // postgres.js reads the option `onnotify`, although its types do not declare it.
      ...({
        onnotify: (channel: string, message: string) => {
          if (!this.#isOver) events.onMessage(channel, message);
        },
      } as object),
      socket: async () => {
        if (this.#isOver) throw new Error('the connection was returned to its pool');
        this.#socket = checkedSocket(await connect());
        this.#destroyIfOver();
        return this.#socket;
      },
    };
  }

  wireOf(sql: Sql): Wire {
    return {
      query: async (text, values) => {
        if (this.#isOver) throw new Error('the connection was returned to its pool');
        const rows: readonly unknown[] =
          values === undefined
            ? await sql.unsafe(text)
            : await sql.unsafe(text, encodeValues(values), { prepare: this.options.prepare !== false });
        // The result of a text with several statements is a list of lists of rows. The backend does not need
        // these rows.
        return Array.isArray(rows[0]) ? [] : (rows as readonly Record<string, unknown>[]);
      },
      release: (broken) => {
        if (this.#isOver) return;
        this.#isOver = true;
        // Ends the connection, so that pending statements reject. On a broken connection the end may never be
        // sent, so the socket is destroyed too.
        void sql.end({ timeout: 0 }).catch(() => undefined);
        if (broken) this.#socket?.destroy();
      },
    };
  }

  #end(error: Error): void {
    if (this.#isOver) return;
    this.#events.onEnd(error);
  }

  /** Closes the connection's socket if the connection was given back while the socket was being opened. */
  #destroyIfOver(): void {
    if (this.#isOver) this.#socket?.destroy();
  }
}

/**
 * Checks that an object is a socket, by the methods that postgres.js calls outside of any statement. An
 * exception there would end the process.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for anything but a socket
 */
function checkedSocket(socket: Socket): Socket {
  requireMethods(socket, {
    argument: 'result of the option socket of client',
    methods: ['on', 'once', 'removeAllListeners', 'write', 'end', 'destroy', 'pause', 'resume'],
    what: 'an object',
    rule: (missing) => `is a socket, or a promise of one, which has ${missing}()`,
  });
  return socket;
}

/** Opens a socket to the address. Rejects when the server cannot be reached. */
export function connectSocket(address: NetConnectOpts): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(address);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.removeListener('error', reject);
      // Sets the host on the socket, because postgres.js takes the host name of its TLS request from the
      // property `host` of the socket.
      resolve('host' in address ? Object.assign(socket, { host: address.host }) : socket);
    });
  });
}
