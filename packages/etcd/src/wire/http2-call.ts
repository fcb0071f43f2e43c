import {
  constants,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { MessageReader } from './grpc-messages.ts';
import { GrpcError, type StatusName } from '../driver/grpc-status.ts';
import type { Http2Link } from './http2-link.ts';

/** Receives the messages of a call. It is not called after `onEnd`. */
export interface CallListener {
  readonly onMessage: (message: Buffer) => void;
  /** Called once. The error is `undefined` if the server reported success. */
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

/**
 * One gRPC call. If the server sends no status, the connection is considered broken and accepts no further calls.
 * @throws when the connection has ended
 */
export class Http2Call {
  readonly #link: Http2Link;
  readonly #stream: ClientHttp2Stream;
  readonly #listener: CallListener;
  readonly #reader = new MessageReader();
  #headers: Headers | undefined;
  /** Pieces of the response that a runtime emitted ahead of its headers, as Deno 2 does. */
  #early: Buffer[] = [];
  #status: Headers | undefined;
  #isOver = false;

  constructor(link: Http2Link, headers: OutgoingHttpHeaders, listener: CallListener) {
    this.#link = link;
    this.#listener = listener;
    this.#stream = link.request(headers);
    this.#listen();
  }

  write(frame: Buffer): void {
    if (!this.#isOver) this.#stream.write(frame);
  }

  /** Writes the last message of the request. */
  end(frame: Buffer): void {
    this.#stream.end(frame);
  }

  /** Ends the call without a call of the listener. */
  cancel(): void {
    this.#isOver = true;
    // A call that still waits for its connection is destroyed, so that it is never sent.
    if (this.#stream.pending) this.#stream.destroy();
    else this.#stream.close(NGHTTP2_CANCEL);
  }

  /** Ends the call. With an error, the listener receives it. The connection accepts no further calls, unless it is still being opened. */
  fail(error?: Error): void {
    if (this.#isOver) return;
    this.cancel();
    if (this.#link.isMade) this.#link.retire();
    if (error) this.#listener.onEnd(error);
  }

  /** Adds as few listeners as possible, since each costs time in every call. */
  #listen(): void {
    const stream = this.#stream;
    stream.on('response', (headers: Headers, flags: number) => {
      this.#headers = headers;
      if (this.#early.length > 0) for (const piece of this.#early.splice(0)) this.#receive(piece);
      if ('grpc-status' in headers) this.#receiveStatus(headers, (flags & NGHTTP2_FLAG_END_STREAM) !== 0);
    });
    stream.on('trailers', (trailers: Headers) => this.#receiveStatus(trailers, true));
    stream.on('data', (piece: Buffer) => this.#receive(piece));
    // The error of the stream is ignored, since the connection reports the failure with more detail.
    stream.on('error', () => undefined);
    stream.on('close', () => {
      this.#link.closed();
      this.#end();
    });
  }

  /** Ends the call at its last headers, which nothing follows, unless a part of the response waits to be read. */
  #receiveStatus(headers: Headers, isLast: boolean): void {
    this.#status = headers;
    if (isLast && this.#stream.readableLength === 0) this.#end();
    else this.#stream.once('end', () => this.#end());
  }

  #receive(piece: Buffer): void {
    if (!this.#headers) {
      this.#early.push(piece);
      return;
    }
    for (const message of this.#messagesOf(piece)) if (!this.#isOver) this.#listener.onMessage(message);
  }

  #messagesOf(piece: Buffer): readonly Buffer[] {
    try {
      return this.#isOver || !this.#isGrpc ? [] : this.#reader.push(piece);
    } catch (error) {
      this.fail(unreadable(error));
      return [];
    }
  }

  /** Whether the response is gRPC, and not a page of a proxy. */
  get #isGrpc(): boolean {
    return this.#headers?.['content-type']?.startsWith(TYPE) ?? false;
  }

  #end(): void {
    if (this.#isOver) return;
    const status = this.#status?.['grpc-status'];
    if (status === undefined) this.fail(this.#missingStatus());
    else if (status === '0' && this.#reader.isHalf) this.fail(unreadable('it is incomplete'));
    else {
      this.#isOver = true;
      this.#listener.onEnd(errorOf(status, this.#status?.['grpc-message']));
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

function errorOf(status: unknown, message: unknown): GrpcError | undefined {
  if (status === '0') return undefined;
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
