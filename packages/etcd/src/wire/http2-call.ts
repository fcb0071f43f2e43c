import {
  constants,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import type { GrpcError } from '../driver/grpc-status.ts';
import { errorOfStatus, failureOf, RefusedCall, unreadable } from './call-errors.ts';
import { MessageReader, PREFIX, isOneMessage } from './grpc-messages.ts';
import type { Call, CallHeaders, CallListener, CallOptions } from './link.ts';

type Headers = IncomingHttpHeaders & IncomingHttpStatusHeader;

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM } = constants;
const TYPE = 'application/grpc';

/** The properties and methods of a connection that its calls use, such as `isMade`: whether the member has responded once. */
export interface Http2CallLink {
  readonly isMade: boolean;
  readonly isOver: boolean;
  readonly failure: Error;
  request(headers: CallHeaders): ClientHttp2Stream;
  closed(): void;
  retire(): void;
}

/**
 * One gRPC call over `node:http2`.
 * @throws when the connection has ended
 */
export class Http2Call implements Call {
  readonly #link: Http2CallLink;
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

  constructor(link: Http2CallLink, { headers, readsAtEnd }: CallOptions, listener: CallListener) {
    this.#link = link;
    this.#listener = listener;
    this.#readsAtEnd = readsAtEnd;
    this.#stream = link.request(headers);
    this.#listen();
  }

  write(frame: Buffer): void {
    if (!this.#isOver) this.#stream.write(frame);
  }

  /** Sends the last message of the request, which ends the request. */
  end(frame: Buffer): void {
    this.#stream.end(frame);
  }

  /** Ends the call without calling its listener. */
  cancel(): void {
    this.#isOver = true;
    // Destroys a call that still waits for its connection, so that Node never sends it.
    if (this.#stream.pending) this.#stream.destroy();
    else this.#stream.close(NGHTTP2_CANCEL);
    // If the peer has ended the stream too, reads and drops the rest of its data, because Node frees the stream only afterwards.
    if (this.#stream.closed) this.#stream.resume();
  }

  /**
   * Ends the call as a failure. If there is an error, the listener of the call receives it. The connection gets no further calls, unless it is still
   * being opened.
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
    // Ignores the error of the stream, since the connection reports the same failure with more detail.
    stream.on('error', () => undefined);
    stream.on('close', () => {
      this.#link.closed();
      if (!this.#isOver) this.#end();
    });
  }

  /** Starts to read messages as they arrive. Does nothing before the headers have arrived. */
  readNow(): void {
    this.#readsAtEnd = false;
    if (this.#headers) this.#readData();
  }

  #readData(): void {
    const stream = this.#stream;
    if (stream.listenerCount('data') === 0) stream.on('data', (piece: Buffer) => this.#receive(piece));
  }

  /** Ends the call when its last headers arrive. If a part of the response was not read yet, waits for the end of the stream. */
  #receiveStatus(headers: Headers, isLast: boolean): void {
    this.#status = headers;
    const isMissing = this.#readsAtEnd && !this.#readAll() && headers['grpc-status'] === '0';
    // If the call succeeded but its message is incomplete, the data is still to arrive: a runtime other than Node may emit the last headers first.
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
    if (status === undefined) this.#endWithoutStatus();
    else if (status === '0' && this.#reader?.isHalf) this.fail(unreadable('it is incomplete'));
    else this.#complete(status === '0' ? undefined : errorOfStatus(status, this.#status?.['grpc-message']));
  }

  /** Ends the call without a gRPC status. Keeps the connection if the member has refused the call. */
  #endWithoutStatus(): void {
    const end = {
      http: this.#headers?.[':status'],
      type: this.#headers?.['content-type'],
      isWhole: this.#stream.readableEnded,
      code: this.#stream.rstCode,
    };
    const error = failureOf(end, this.#link);
    if (error instanceof RefusedCall) this.#complete(error);
    else this.fail(error);
  }

  /** Ends the call and keeps the connection. */
  #complete(error: GrpcError | undefined): void {
    this.#isOver = true;
    this.#listener.onEnd(error);
  }
}
