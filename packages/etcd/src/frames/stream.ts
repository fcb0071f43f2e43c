import type { Bytes } from './frame-reader.ts';
import type { HeaderListener } from './hpack-decoder.ts';
import type { RequestHeaders } from './hpack-encoder.ts';

/**
 * One stream of a connection: a request and its response. The connection owns the fields. A subclass receives the response, so that a stream needs one
 * object. No method is called after `onEnd` or `onReset`, nor after the stream was cancelled.
 */
export abstract class Stream implements HeaderListener {
  /** 0 until the stream is opened. */
  id = 0;
  /** Whether the stream is known to the connection, and its response has not ended. */
  isOpen = false;
  readonly headers: RequestHeaders;
  /** How many bytes the peer permits. It may be negative. */
  sendWindow = 0;
  /** How many bytes the peer may still send. */
  receiveWindow = 0;
  /** What waits for a window of the peer, or for the stream to open. The first `unsentFrom` bytes were sent. */
  unsent: Buffer[] | undefined;
  unsentFrom = 0;
  /** Whether the request ends after `unsent`. */
  isLastSent = false;

  constructor(headers: RequestHeaders) {
    this.headers = headers;
  }

  /** Receives one header of the response, or one of its trailers. It must not throw. */
  abstract onHeader(name: string, value: string): void;
  /** Receives the end of a block of headers. The last block is followed by `onEnd`. */
  abstract onHeadersEnd(isLast: boolean): void;
  /** Receives a part of the body. Its bytes are valid only during the call. */
  abstract onData(part: Bytes): void;
  /** Called when the peer has ended the response. */
  abstract onEnd(): void;
  /** Called when the peer has reset the stream, with the error code. */
  abstract onReset(code: number): void;
}
