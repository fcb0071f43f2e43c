import { copyOf } from '../base/copied-bytes.ts';
import type { GrpcError } from '../driver/grpc-status.ts';
import type { Connection } from '../frames/connection.ts';
import type { Bytes } from '../frames/frame-reader.ts';
import { Stream } from '../frames/stream.ts';
import { errorOfStatus, failureOf, RefusedCall, unreadable } from './call-errors.ts';
import { PREFIX, isOneMessage } from './grpc-messages.ts';
import type { Call, CallHeaders, CallListener } from './link.ts';
import { MessageBuffer } from './message-buffer.ts';

/** The properties and methods of a connection that its calls use, such as `isMade`: whether the member has responded once. */
export interface SocketCallLink {
  readonly connection: Connection;
  readonly isMade: boolean;
  readonly isOver: boolean;
  readonly failure: Error;
  /** Records that one call on the connection has ended. */
  closed(): void;
  retire(): void;
}

const TYPE = 'application/grpc';
const FIRST_FINAL = 200;
const HTTP_STATUS = /^[1-5]\d\d$/;
// Matches a valid header name (RFC 9113, section 8.2.1), which has no upper-case letters.
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const FORBIDDEN: ReadonlySet<string> = new Set(['connection', 'transfer-encoding', 'upgrade', 'keep-alive']);

/** One gRPC call over this package's own HTTP/2 framing. The call extends `Stream`, so that a call and its stream are one object. */
export class SocketCall extends Stream implements Call {
  readonly #link: SocketCallLink;
  readonly #listener: CallListener;
  /** The HTTP status of the response; 0 until its headers have arrived. */
  #http = 0;
  /** The number of blocks of headers that have arrived, without informational ones: 1 after the response headers, 2 after the trailers. */
  #blocks = 0;
  /** The number of headers in the block that is being received. */
  #headers = 0;
  #type: string | undefined;
  #isGrpc = false;
  /**
   * The gRPC status and its message in the block of headers that is being received. They count only when the whole block has arrived and is valid.
   */
  #blockStatus: string | undefined;
  #blockMessage: string | undefined;
  #status: string | undefined;
  #message: string | undefined;
  #malformed: string | undefined;
  /** Joins the parts of gRPC messages. It is created only when data arrives that is not exactly one message. */
  #buffer: MessageBuffer | undefined;
  #isOver = false;

  constructor(link: SocketCallLink, headers: CallHeaders, listener: CallListener) {
    super(headers);
    this.#link = link;
    this.#listener = listener;
    link.connection.open(this);
  }

  write(frame: Buffer): void {
    this.#link.connection.send(this, frame, false);
  }

  end(frame: Buffer): void {
    this.#link.connection.send(this, frame, true);
  }

  cancel(): void {
    this.#isOver = true;
    if (!this.isOpen) return;
    this.#link.connection.cancel(this);
    this.#link.closed();
  }

  fail(error?: Error): void {
    if (this.#isOver) return;
    this.cancel();
    if (this.#link.isMade) this.#link.retire();
    if (error) this.#listener.onEnd(error);
  }

  readNow(): void {
    // Does nothing, because this call always reads messages when they arrive.
  }

  override onHeader(name: string, value: string): void {
    this.#headers += 1;
    if (name === ':status') this.#receiveHttpStatus(value);
    else if (name === 'content-type') {
      if (this.#blocks === 0) this.#type = value;
    } else if (name === 'grpc-status') this.#receiveGrpcStatus(value);
    else if (name === 'grpc-message') this.#blockMessage = value;
    else if (!NAME.test(name) || FORBIDDEN.has(name)) this.#malformed = `the header ${JSON.stringify(name)}`;
  }

  #receiveHttpStatus(value: string): void {
    if (this.#headers > 1 || this.#blocks > 0) this.#malformed = 'a status after other headers';
    else if (!HTTP_STATUS.test(value)) this.#malformed = `the HTTP status ${JSON.stringify(value)}`;
    else this.#http = Number(value);
  }

  #receiveGrpcStatus(value: string): void {
    if (this.#blockStatus !== undefined) this.#malformed = 'two gRPC statuses';
    this.#blockStatus = value;
  }

  override onHeadersEnd(isLast: boolean): void {
    if (this.#isOver) return;
    const isInformational = this.#blocks === 0 && this.#http < FIRST_FINAL;
    if (this.#blocks === 0 && this.#http === 0) this.#malformed ??= 'headers without a status';
    if (this.#blocks > 0 && !isLast) this.#malformed ??= 'trailers before the end';
    if (isInformational && isLast) this.#malformed ??= 'informational headers that end the response';
    if (this.#malformed !== undefined) this.fail(unreadable(this.#malformed));
    else if (isInformational) this.#forgetHeaders();
    else this.#acceptHeaders();
    this.#headers = 0;
    this.#blockStatus = undefined;
    this.#blockMessage = undefined;
  }

  /** Ignores informational headers (status 1xx). The final headers follow them. */
  #forgetHeaders(): void {
    this.#http = 0;
    this.#type = undefined;
  }

  /** Stores the gRPC status of a block of headers or trailers. Trailers replace the status of the headers, even if they contain none. */
  #acceptHeaders(): void {
    if (this.#blocks === 0) this.#isGrpc = this.#type?.startsWith(TYPE) ?? false;
    this.#blocks += 1;
    this.#status = this.#blockStatus;
    this.#message = this.#blockMessage;
  }

  override onData(part: Bytes): void {
    if (this.#isOver) return;
    if (this.#blocks === 0) this.fail(unreadable('data before the headers'));
    // Ignores the body of a response that is not gRPC, such as an error page of a proxy.
    else if (this.#isGrpc) this.#receive(part);
  }

  #receive({ bytes, start, end }: Bytes): void {
    if (!this.#buffer && isOneMessage(bytes, start, end)) {
      this.#listener.onMessage(copyOf(bytes, start + PREFIX, end));
      return;
    }
    this.#buffer ??= new MessageBuffer();
    let messages: readonly Buffer[];
    try {
      messages = this.#buffer.push(bytes.subarray(start, end));
    } catch (error) {
      this.fail(unreadable(error));
      return;
    }
    for (const message of messages) this.#deliver(message);
  }

  /** Passes a message to the listener, unless the message before it has ended the call. */
  #deliver(message: Buffer): void {
    if (!this.#isOver) this.#listener.onMessage(message);
  }

  override onEnd(): void {
    this.#link.closed();
    this.#finish(true, 0);
  }

  override onReset(code: number): void {
    this.#link.closed();
    this.#finish(false, code);
  }

  #finish(isWhole: boolean, code: number): void {
    if (this.#isOver) return;
    const status = this.#status;
    if (status === undefined) this.#endWithoutStatus(isWhole, code);
    else if (status === '0' && this.#buffer?.isHalf) this.fail(unreadable('it is incomplete'));
    else this.#complete(status === '0' ? undefined : errorOfStatus(status, this.#message));
  }

  /** Ends the call without a gRPC status. Keeps the connection if the member has refused the call. */
  #endWithoutStatus(isWhole: boolean, code: number): void {
    const end = { http: this.#http || undefined, type: this.#type, isWhole, code };
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
