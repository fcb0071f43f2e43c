import type { FrameWriter } from './frame-writer.ts';
import { ConnectionError, INITIAL_WINDOW } from './protocol.ts';
import type { Stream } from './stream.ts';

/** How many times as many bytes the window of the connection permits as the window of one stream. */
const STREAMS_PER_CONNECTION = 4;

/**
 * Limits how many bytes the peer may send, and permits more when half of a window is used (RFC 9113, section 5.2). The listener gets received data at
 * once, so windows grow as fast as this process reads.
 */
export class ReceiveWindows {
  readonly #writer: FrameWriter;
  readonly #ofStream: number;
  readonly #ofConnection: number;
  #left: number;
  /** How many bytes may still arrive on streams that this client has cancelled or the peer has refused. */
  #late = 0;
  /** The part of `#late` that belongs to streams which the peer has refused. */
  #refused = 0;

  /** @param window how many bytes of one response the peer may send before this client permits more */
  constructor(writer: FrameWriter, window: number) {
    this.#writer = writer;
    this.#ofStream = window;
    this.#ofConnection = Math.max(INITIAL_WINDOW, STREAMS_PER_CONNECTION * window);
    this.#left = this.#ofConnection;
  }

  /**
   * Permits the peer to send more than the 65,535 bytes that HTTP/2 permits on a connection at first. Must be called after the preface was written.
   */
  begin(): void {
    if (this.#ofConnection > INITIAL_WINDOW)
      this.#writer.windowUpdate(0, this.#ofConnection - INITIAL_WINDOW);
  }

  opened(stream: Stream): void {
    stream.receiveWindow = this.#ofStream;
  }

  /**
   * Permits data that the peer sent on a stream before it received the reset of that stream. The window of the connection limits this data over all
   * cancelled streams.
   */
  cancelled(stream: Stream): void {
    this.#late = Math.min(this.#ofConnection + this.#refused, this.#late + stream.receiveWindow);
  }

  /**
   * Permits the data of a stream that the peer has refused by a GOAWAY. Some servers, for instance Node's, still send all of it. No reset stops them,
   * because many resets at once could make the peer end the connection, and with it the streams that it has accepted. So only the windows of the streams
   * limit this data: the window of the connection grows again while it arrives.
   */
  refused(stream: Stream): void {
    this.#refused += stream.receiveWindow;
    this.#late += stream.receiveWindow;
  }

  /**
   * Counts the bytes of a received frame, its padding included. The stream is `undefined` if it was cancelled or has ended.
   * @returns false if no ended stream permits these bytes. Some servers send data after the end of a response, so this does not end the connection
   * @throws {ConnectionError} if the peer has sent more than the window of the connection or of the stream permits
   */
  receive(stream: Stream | undefined, size: number): boolean {
    this.#left -= size;
    if (this.#left < 0) throw exceeded('the window of the connection');
    if (this.#left < this.#ofConnection >> 1) {
      this.#writer.windowUpdate(0, this.#ofConnection - this.#left);
      this.#left = this.#ofConnection;
    }
    if (stream === undefined) {
      const isPermitted = size <= this.#late;
      if (isPermitted) this.#late -= size;
      return isPermitted;
    }
    stream.receiveWindow -= size;
    if (stream.receiveWindow < 0) throw exceeded('the window of a stream');
    if (stream.receiveWindow < this.#ofStream >> 1) {
      this.#writer.windowUpdate(stream.id, this.#ofStream - stream.receiveWindow);
      stream.receiveWindow = this.#ofStream;
    }
    return true;
  }
}

function exceeded(window: string): ConnectionError {
  return new ConnectionError('FLOW_CONTROL_ERROR', `data that exceeds ${window}`);
}
