import {
  constants,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { MessageReader, PREFIX, isOneMessage } from './grpc-messages.ts';
import { GrpcError, type StatusName } from '../driver/grpc-status.ts';
import type { Http2Link } from './http2-link.ts';

/** Receives the messages and the end of a call. It is not called after `onEnd`. */
export interface CallListener {
  readonly onMessage: (message: Buffer) => void;
  /** Called once, at the end of the call. The error is `undefined` if the server reported success. */
  readonly onEnd: (error: Error | undefined) => void;
}

type Headers = IncomingHttpHeaders & IncomingHttpStatusHeader;

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR } = constants;
const HTTP_OK = 200;
const TYPE = 'application/grpc';
const STATUS_OF_HTTP: Readonly<Record<number, StatusName>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNIMPLEMENTED',
};

/** How to send a call and to read its response. */
export interface CallOptions {
  readonly headers: OutgoingHttpHeaders;
  /**
   * Whether to read the messages only after all have arrived, which takes fewer function calls. The caller must call `readNow` when the response is
   * not complete soon.
   */
  readonly readsAtEnd: boolean;
}

/**
 * One gRPC call. If the server returns no gRPC status, the connection is assumed to be broken and gets no further calls.
 * @throws when the connection has ended
 */
export class Http2Call {
  readonly #link: Http2Link;
  readonly #stream: ClientHttp2Stream;
  readonly #listener: CallListener;
  #readsAtEnd: boolean;
  /** Splits the received bytes into messages. It is created only when a chunk arrives that is not exactly one message. */
  #reader: MessageReader | undefined;
  #hasMessage = false;
  #headers: Headers | undefined;
  #isGrpc = false;
  #status: Headers | undefined;
  #isOver = false;

  constructor(link: Http2Link, { headers, readsAtEnd }: CallOptions, listener: CallListener) {
    this.#link = link;
    this.#listener = listener;
    this.#readsAtEnd = readsAtEnd;
    this.#stream = link.request(headers);
    this.#listen();
  }

  write(frame: Buffer): void {
    if (!this.#isOver) this.#stream.write(frame);
  }

  /** Sends the last message of the request. */
  end(frame: Buffer): void {
    this.#stream.end(frame);
  }

  /** Ends the call without calling the listener. */
  cancel(): void {
    this.#isOver = true;
    // Destroys the stream of a call that still waits for its connection, so that Node never sends the call.
    if (this.#stream.pending) this.#stream.destroy();
    else this.#stream.close(NGHTTP2_CANCEL);
    // After both sides have ended the stream, Node frees it only when its data was read. So the rest of the data is read and ignored.
    if (this.#stream.closed) this.#stream.resume();
  }

  /**
   * Ends the call as a failure, with the error for the listener, if any. The connection gets no further calls, unless it is still being opened.
   */
  fail(error?: Error): void {
    if (this.#isOver) return;
    this.cancel();
    if (this.#link.isMade) this.#link.retire();
    if (error) this.#listener.onEnd(error);
  }

  /** Adds the listeners of the stream, as few as possible, because each one costs time in every call. */
  #listen(): void {
    const stream = this.#stream;
    stream.on('response', (headers: Headers, flags: number) => {
      this.#headers = headers;
      this.#isGrpc = headers['content-type']?.startsWith(TYPE) ?? false;
      if (!this.#readsAtEnd || !this.#isGrpc) this.#readData();
      if ('grpc-status' in headers) this.#receiveStatus(headers, (flags & NGHTTP2_FLAG_END_STREAM) !== 0);
    });
    stream.on('trailers', (trailers: Headers) => this.#receiveStatus(trailers, true));
    // Ignores this error, since the connection reports the same failure with more detail.
    stream.on('error', () => undefined);
    stream.on('close', () => {
      this.#link.closed();
      if (!this.#isOver) this.#end();
    });
  }

  /** Starts to read messages as they arrive. Does nothing before the response headers have arrived. */
  readNow(): void {
    this.#readsAtEnd = false;
    if (this.#headers) this.#readData();
  }

  #readData(): void {
    const stream = this.#stream;
    if (stream.listenerCount('data') === 0) stream.on('data', (piece: Buffer) => this.#receive(piece));
  }

  /** Ends the call when the trailers with its gRPC status arrive. If a part of the response was not read yet, waits for the end of the stream. */
  #receiveStatus(headers: Headers, isLast: boolean): void {
    this.#status = headers;
    const isMissing = this.#readsAtEnd && !this.#readAll() && headers['grpc-status'] === '0';
    // A runtime other than Node may emit the last headers ahead of the data.
    if (isMissing) this.readNow();
    if (isLast && !isMissing && this.#stream.readableLength === 0) this.#end();
    else this.#stream.once('end', () => this.#end());
  }

  /** Reads the data that has arrived. Returns whether it contains messages, and all are complete. */
  #readAll(): boolean {
    const all = this.#stream.read() as Buffer | null;
    if (all) this.#receive(all);
    return this.#hasMessage && !this.#reader?.isHalf;
  }

  /** Reads a chunk of data. Ignores the body of a response that is not gRPC, such as a page of a proxy. */
  #receive(piece: Buffer): void {
    if (this.#isOver || !this.#isGrpc) return;
    if (!this.#reader && isOneMessage(piece)) {
      this.#deliver(piece.subarray(PREFIX));
      return;
    }
    this.#reader ??= new MessageReader();
    let messages: readonly Buffer[];
    try {
      messages = this.#reader.push(piece);
    } catch (error) {
      this.fail(unreadable(error));
      return;
    }
    for (const message of messages) this.#deliver(message);
  }

  /** Passes a message to the listener, unless the message before it has ended the call. */
  #deliver(message: Buffer): void {
    if (this.#isOver) return;
    this.#hasMessage = true;
    this.#listener.onMessage(message);
  }

  #end(): void {
    if (this.#isOver) return;
    const status = this.#status?.['grpc-status'];
    if (status === undefined) this.fail(this.#missingStatus());
    else if (status === '0' && this.#reader?.isHalf) this.fail(unreadable('it is incomplete'));
    else {
      this.#isOver = true;
      this.#listener.onEnd(status === '0' ? undefined : errorOf(status, this.#status?.['grpc-message']));
    }
  }

  #missingStatus(): GrpcError {
    if (this.#link.isOver) return new GrpcError('UNAVAILABLE', this.#link.failure.message);
    const { ':status': http = HTTP_OK, 'content-type': type = 'nothing' } = this.#headers ?? {};
    if (http !== HTTP_OK)
      return new GrpcError(
        STATUS_OF_HTTP[http] ?? 'UNAVAILABLE',
        `the member responded with HTTP status ${http}`,
      );
    const code = this.#stream.rstCode;
    if (code === NGHTTP2_ENHANCE_YOUR_CALM)
      return new GrpcError('RESOURCE_EXHAUSTED', 'the member limits the rate of calls (ENHANCE_YOUR_CALM)');
    if (this.#stream.readableEnded && code === NGHTTP2_NO_ERROR)
      return new GrpcError('UNKNOWN', `the member responded with ${type} without a gRPC status`);
    return new GrpcError('UNAVAILABLE', `the member reset the call (${code})`);
  }
}

/** Returns the error of a call with an invalid response. */
export function unreadable(error: unknown): GrpcError {
  return new GrpcError('INTERNAL', `invalid response: ${String(error)}`);
}

function errorOf(status: unknown, message: unknown): GrpcError {
  const code = Number(status);
  const details = typeof message === 'string' ? percentDecoded(message) : '';
  return new GrpcError(Number.isInteger(code) ? code : 'UNKNOWN', details);
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
