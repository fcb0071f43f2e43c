import type { Bytes } from './frame-reader.ts';
import type { HeaderListener } from './hpack-decoder.ts';
import type { RequestHeaders } from './hpack-encoder.ts';

/**
 * One stream of a connection: a request and its response. Only the connection changes the fields. A subclass receives the response, so that a stream
 * and its receiver are one object. The connection calls no method after `onEnd`, `onReset` or a cancellation.
 */
export abstract class Stream implements HeaderListener {
  /** The id of the stream; 0 until the stream is opened. */
  id = 0;
  /** Whether the stream was added to the connection, and its response has not ended. */
  isOpen = false;
  readonly headers: RequestHeaders;
  /** Whether a block of headers of the response has arrived. */
  hasHeaders = false;
  /** How many bytes of the request the peer now permits. The number may be negative after the peer has reduced its windows. */
  sendWindow = 0;
  /** How many bytes of the response this client now permits. */
  receiveWindow = 0;
  /**
   * Messages of the request that wait for the peer's window, or for the opening of the stream. The first `unsentFrom` bytes of the first message were
   * sent.
   */
  unsent: Buffer[] | undefined;
  unsentFrom = 0;
  /** Whether the request ends with the last of the messages in `unsent`. */
  isLastSent = false;

  constructor(headers: RequestHeaders) {
    this.headers = headers;
  }

  /** Receives one header of the response, or one of its trailers. It must not throw. */
  abstract onHeader(name: string, value: string): void;
  /** Receives the end of a block of headers. `isLast` means that the response has ended, so `onEnd` follows. */
  abstract onHeadersEnd(isLast: boolean): void;
  /** Receives a part of the response's body. Its bytes are valid only during the call. */
  abstract onData(part: Bytes): void;
  /** Called when the peer has ended the response. */
  abstract onEnd(): void;
  /** Called when the peer has reset the stream, with the error code. */
  abstract onReset(code: number): void;
}
