import type { ConnectionOptions as TlsConnectionOptions } from 'node:tls';
import type { AddressOrder } from './address-order.ts';

/** The address of an etcd member, and its certificates for TLS. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** The order in which connections try the addresses of the host. By default, each connection uses the order of DNS. */
  readonly order?: AddressOrder;
  /** `host:port`, as the HTTP/2 header `:authority` contains it. */
  readonly authority: string;
  /** Returns the current certificates of the client, and the authorities that it trusts. `undefined` if TLS is not used. */
  readonly tls: (() => Pick<TlsConnectionOptions, 'ca' | 'cert' | 'key'>) | undefined;
}

/** Timeouts and sizes of an HTTP/2 connection to a member. */
export interface LinkOptions {
  readonly connectTimeoutMs: number;
  /** Interval of pings while a call is open, in milliseconds. */
  readonly pingEveryMs: number;
  readonly pingTimeoutMs: number;
  /**
   * How many bytes of one response the member may send before this client permits more. For all responses together, the limit is four times this
   * number.
   */
  readonly window: number;
}

/** Receives the events of a connection to a member. */
export interface LinkListener {
  /** Called when the HTTP/2 connection is established. */
  readonly onReady: () => void;
  /** Called when the connection accepts no further calls. Calls in flight may still succeed. */
  readonly onRetired: () => void;
  /** Called when the connection and all of its calls have ended. */
  readonly onClose: (failure: Error) => void;
}

/** The headers of a call by name. */
export type CallHeaders = Readonly<Record<string, string>>;

/** Options of a call: its headers, and when its response is read. */
export interface CallOptions {
  readonly headers: CallHeaders;
  /**
   * Whether the messages may be read only after all have arrived, which takes fewer function calls. The caller
   * must call `readNow` if the response takes long.
   */
  readonly readsAtEnd: boolean;
}

/** Receives the messages of a response and the end of the call. It is not called after `onEnd`. */
export interface CallListener {
  readonly onMessage: (message: Buffer) => void;
  /** Called once, at the end of the call. The error is `undefined` if the server reported success. */
  readonly onEnd: (error: Error | undefined) => void;
}

/**
 * One gRPC call. If the server returns no gRPC status, the connection is assumed to be broken and gets no further calls. But after a call that the server
 * has refused (`RefusedCall`), the connection stays usable, since the server may only have refused to open one more stream.
 */
export interface Call {
  /** Sends a message of the request, with the prefix that contains the message's length. */
  write(frame: Buffer): void;
  /** Sends the last message of the request, with the prefix that contains the message's length. */
  end(frame: Buffer): void;
  /** Ends the call without calling its listener. */
  cancel(): void;
  /**
   * Ends the call as a failure. If there is an error, the listener of the call receives it. The connection gets no further calls, unless it is still
   * being opened.
   */
  fail(error?: Error): void;
  /** Starts to read the messages of the response as they arrive. */
  readNow(): void;
}

/** One HTTP/2 connection to a member. It keeps the process alive only while a call is open, or the operating system connects its socket. */
export interface Link {
  /** Whether the connection accepts a further call. */
  readonly isUsable: boolean;
  /** The error with which the connection ended. */
  readonly failure: Error;
  /** Opens a call, which is sent as soon as the connection is established. Throws if the connection has ended. */
  open(options: CallOptions, listener: CallListener): Call;
  /** Stops accepting further calls on the connection. Calls in flight continue. */
  retire(): void;
  /** Ends the connection and all of its calls. */
  destroy(failure?: Error): void;
}

/** Provides a connection for one more call. Throws or rejects if no connection is possible now. */
export interface LinkSource {
  /** Returns a promise only if credentials must be read first. */
  link(): Link | Promise<Link>;
}

/** Opens an HTTP/2 connection to the member with the given address. */
export type OpenLink = (address: Address, options: LinkOptions, listener: LinkListener) => Link;
