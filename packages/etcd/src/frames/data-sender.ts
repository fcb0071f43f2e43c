import type { FrameWriter } from './frame-writer.ts';
import { ConnectionError, INITIAL_WINDOW, MAX_31_BITS, MAX_FRAME_SIZE } from './protocol.ts';
import type { Stream } from './stream.ts';

/** Sends the data of requests as far as the peer's flow-control windows permit, and the rest when the windows grow (RFC 9113, section 5.2). */
export class DataSender {
  readonly #writer: FrameWriter;
  /** How many bytes the peer now permits on the connection, over all streams. */
  #window = INITIAL_WINDOW;
  #initialWindow = INITIAL_WINDOW;
  /** The streams with unsent data that only the connection's window stops. They continue when that window grows. */
  readonly #blocked = new Set<Stream>();

  constructor(writer: FrameWriter) {
    this.#writer = writer;
  }

  /** Sets the window of a stream that was just opened, and sends the messages that waited for the opening. */
  opened(stream: Stream): void {
    stream.sendWindow = this.#initialWindow;
    if (stream.unsent) this.#resume(stream);
  }

  /** Sends a message of a request, or keeps it until the peer's windows permit it. `isLast` means that the request ends with this message. */
  send(stream: Stream, bytes: Buffer, isLast: boolean): void {
    const { length } = bytes;
    const isSmall = length <= MAX_FRAME_SIZE && length <= stream.sendWindow && length <= this.#window;
    if (isSmall && stream.unsent === undefined && stream.id !== 0) {
      stream.isLastSent = isLast;
      this.#write(stream, { bytes, start: 0, end: length }, isLast);
      return;
    }
    stream.unsent ??= [];
    stream.unsent.push(bytes);
    stream.isLastSent = isLast;
    if (stream.id !== 0) this.#resume(stream);
  }

  /** Forgets the unsent data of a stream that has ended. */
  forget(stream: Stream): void {
    stream.unsent = undefined;
    this.#blocked.delete(stream);
  }

  /** Adds bytes that the peer now permits on the connection, and continues the streams that waited for them. */
  growConnection(increment: number): void {
    this.#window = grown(this.#window, increment);
    const blocked = [...this.#blocked];
    this.#blocked.clear();
    for (const stream of blocked) this.#resume(stream);
  }

  /** Adds bytes that the peer now permits on one stream, and continues that stream. */
  growStream(stream: Stream, increment: number): void {
    stream.sendWindow = grown(stream.sendWindow, increment);
    this.#resume(stream);
  }

  /**
   * Applies a new initial window of the peer. The window of each open stream changes by the difference to the old initial window, so it may become
   * negative.
   */
  changeInitialWindow(size: number, streams: Iterable<Stream>): void {
    const change = size - this.#initialWindow;
    this.#initialWindow = size;
    for (const stream of streams) {
      stream.sendWindow = grown(stream.sendWindow, change);
      this.#resume(stream);
    }
  }

  #resume(stream: Stream): void {
    const { unsent } = stream;
    while (unsent && unsent.length > 0) {
      const bytes = unsent[0] as Buffer;
      const room = Math.min(stream.sendWindow, this.#window, MAX_FRAME_SIZE);
      if (room <= 0) {
        if (stream.sendWindow > 0) this.#blocked.add(stream);
        return;
      }
      const start = stream.unsentFrom;
      const end = Math.min(bytes.length, start + room);
      const isWhole = end === bytes.length;
      stream.unsentFrom = isWhole ? 0 : end;
      if (isWhole) unsent.shift();
      this.#write(stream, { bytes, start, end }, stream.isLastSent && unsent.length === 0);
    }
    stream.unsent = undefined;
  }

  #write(stream: Stream, part: { bytes: Buffer; start: number; end: number }, isLast: boolean): void {
    const size = part.end - part.start;
    stream.sendWindow -= size;
    this.#window -= size;
    this.#writer.data(stream.id, part, isLast);
  }
}

function grown(window: number, change: number): number {
  if (window + change > MAX_31_BITS)
    throw new ConnectionError('FLOW_CONTROL_ERROR', 'a window of more than 2147483647 bytes');
  return window + change;
}
