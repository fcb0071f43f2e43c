// Folder "driver": opens connections to a server, sends commands, and interprets errors.
// driver.ts (this file) declares the interface of both client libraries. errors.ts interprets their errors. check-client.ts checks a client
// of the caller without a request, and proven-driver.ts tests its first connection.

/** Address of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Callbacks of a connection, and a signal that gives up connecting. */
export interface WireEvents {
  /** Called with each message on a channel that the connection is subscribed to. */
  readonly onMessage: (channel: string, message: string) => void;
  /** Called once when the connection has ended. */
  readonly onEnd: (error: unknown) => void;
  /** Signal that aborts when the caller no longer waits for the connection to open. */
  readonly signal: AbortSignal;
}

/** One connection to a server. It never reconnects: after its end, the caller opens another one. */
export interface Wire {
  /** Sends a command and resolves with its reply. Commands are sent and answered in the order of the calls. */
  send(args: readonly string[]): Promise<unknown>;
  /**
   * Subscribes to a channel. Resolves when the subscription is active, so that `onMessage` receives each later message on the channel. From
   * then on, the connection accepts no other commands.
   */
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  /**
   * Closes the connection at once. Pending commands reject. `onEnd` may be called, depending on the client
   * library.
   */
  close(): void;
}

/** Opens connections with one client library. */
export interface Driver {
  /** The server's address without user and password, for error messages. */
  readonly endpoint: string;
  /**
   * Makes one attempt to connect. `at`: address of another server of the same cluster, to which a command was redirected. It has the same
   * credentials and TLS.
   */
  open(events: WireEvents, at?: Partial<Address>): Promise<Wire>;
}
