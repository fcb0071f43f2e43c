import { ControlFrames, type ConnectionListener } from './control-frames.ts';
import { DataSender } from './data-sender.ts';
import { FrameBudget } from './frame-budget.ts';
import { FrameReader, uint32, type Frame, type FrameListener } from './frame-reader.ts';
import { FrameWriter } from './frame-writer.ts';
import { HeaderBlocks, type HeaderBlock } from './header-blocks.ts';
import { HpackDecoder, MAX_HEADER_LIST, type HeaderListener } from './hpack-decoder.ts';
import { HpackEncoder } from './hpack-encoder.ts';
import { removePadding, removePriority, requireSize } from './payload.ts';
import * as protocol from './protocol.ts';
import { ConnectionError, ERROR_CODES } from './protocol.ts';
import { ReceiveWindows } from './receive-windows.ts';
import { ENABLE_PUSH, INITIAL_WINDOW_SIZE, MAX_HEADER_LIST_SIZE } from './settings.ts';
import type { Stream } from './stream.ts';
import { Streams } from './streams.ts';

/** Options of a connection: the function that sends its bytes, and the limit of the bytes that it receives. */
export interface ConnectionOptions {
  /** Writes the bytes of frames to the socket. */
  readonly write: (bytes: Buffer) => void;
  /**
   * How many bytes of one response the peer may send before this client permits more. For all responses together, the limit is four times this
   * number.
   */
  readonly window: number;
  /** The id of the first stream of the connection. Default 1. */
  readonly firstId?: number;
}

const IGNORED: HeaderListener = { onHeader: () => undefined };

/**
 * The client's side of an HTTP/2 connection (RFC 9113), without its socket. Its owner passes received bytes to `receive`, and sends the bytes that
 * the option `write` gets.
 */
export class Connection implements FrameListener {
  readonly #listener: ConnectionListener;
  readonly #writer: FrameWriter;
  readonly #reader = new FrameReader(this);
  readonly #sender: DataSender;
  readonly #windows: ReceiveWindows;
  readonly #streams: Streams;
  readonly #blocks = new HeaderBlocks();
  readonly #decoder = new HpackDecoder();
  readonly #encoder = new HpackEncoder();
  readonly #budget = new FrameBudget();
  readonly #control: ControlFrames;

  constructor({ write, window, firstId = 1 }: ConnectionOptions, listener: ConnectionListener) {
    this.#listener = listener;
    this.#writer = new FrameWriter(write);
    this.#sender = new DataSender(this.#writer);
    this.#windows = new ReceiveWindows(this.#writer, window);
    this.#streams = new Streams((stream) => this.#openNow(stream), firstId);
    this.#control = new ControlFrames({
      writer: this.#writer,
      sender: this.#sender,
      windows: this.#windows,
      streams: this.#streams,
      encoder: this.#encoder,
      budget: this.#budget,
      listener,
    });
    this.#writer.preface([
      [ENABLE_PUSH, 0],
      [INITIAL_WINDOW_SIZE, window],
      [MAX_HEADER_LIST_SIZE, MAX_HEADER_LIST],
    ]);
    this.#windows.begin();
  }

  /** Whether the connection can open no further stream, because all ids are used. */
  get isExhausted(): boolean {
    return this.#streams.isExhausted;
  }

  /**
   * Sends the frames that were collected so far, and opens the waiting streams. The owner must call it when the socket is connected. Does nothing after
   * `close` or `end`, since the socket may connect only afterwards.
   */
  start(): void {
    if (this.#reader.isStopped) return;
    this.#writer.start();
    this.#streams.start();
  }

  /** Reads the first `length` bytes of the buffer, which the caller may use again afterwards. */
  receive(bytes: Buffer, length: number): void {
    try {
      this.#reader.push(bytes, length);
    } catch (error) {
      const isViolation = error instanceof ConnectionError;
      this.close(isViolation ? error.code : ERROR_CODES.INTERNAL_ERROR);
      this.#listener.onViolation(error as Error);
      if (!isViolation) throw error;
    }
  }

  /** Announces to the peer that the connection ends, with an error code of HTTP/2. Afterwards the connection neither sends nor reads. */
  close(code: number): void {
    this.#writer.goaway(code);
    this.#writer.flush();
    this.#reader.stop();
    this.#writer.stop();
  }

  /** Removes all streams, since the socket has closed. Returns the streams that had not ended. */
  end(): Stream[] {
    this.#reader.stop();
    this.#writer.stop();
    return this.#streams.takeAbove(0);
  }

  /** Opens a stream as soon as the connection is ready and the peer permits one more open stream. */
  open(stream: Stream): void {
    this.#streams.add(stream);
  }

  /** Sends a message of a stream's request. `isLast` means that the request ends with this message. */
  send(stream: Stream, message: Buffer, isLast: boolean): void {
    if (!stream.isOpen) return;
    this.#budget.earn(message.length, this.#streams.size);
    this.#sender.send(stream, message, isLast);
  }

  /** Ends a stream. Sends a reset to the peer if the stream's headers were already sent. */
  cancel(stream: Stream): void {
    if (!stream.isOpen) return;
    if (stream.id !== 0) {
      this.#windows.cancelled(stream);
      this.#writer.reset(stream.id, ERROR_CODES.CANCEL);
    }
    this.#remove(stream);
  }

  /** Sends a ping. The listener's method `onPong` is called for the reply. */
  ping(): void {
    this.#control.ping();
  }

  #openNow(stream: Stream): void {
    this.#windows.opened(stream);
    this.#writer.headers(stream.id, this.#encoder.encode(stream.headers));
    this.#sender.opened(stream);
  }

  /**
   * Removes a stream, and opens a waiting stream in its place. So a reset of the removed stream must be written before: the peer counts the stream as
   * open until the reset arrives.
   */
  #remove(stream: Stream): void {
    this.#sender.forget(stream);
    this.#streams.remove(stream);
  }

  /** Handles a frame that the peer has sent. */
  onFrame(frame: Frame): void {
    const { type } = frame;
    if (!this.#control.isReady && type !== protocol.SETTINGS)
      throw new ConnectionError('PROTOCOL_ERROR', 'a first frame that contains no settings');
    if (this.#blocks.isOpen && type !== protocol.CONTINUATION)
      throw new ConnectionError('PROTOCOL_ERROR', 'another frame between two parts of headers');
    if (type === protocol.DATA) this.#onData(frame);
    else if (type === protocol.HEADERS) this.#onHeaders(frame);
    else if (type === protocol.CONTINUATION) this.#onContinuation(frame);
    else if (type === protocol.RST_STREAM) this.#onReset(frame);
    else this.#control.receive(frame);
  }

  #onData(frame: Frame): void {
    const stream = this.#streams.find(frame.streamId);
    const isLast = (frame.flags & protocol.END_STREAM) !== 0;
    const isPermitted = this.#windows.receive(stream, frame.end - frame.start);
    if ((frame.flags & protocol.PADDED) !== 0) removePadding(frame);
    if (!isPermitted || (frame.start === frame.end && !isLast)) this.#budget.spend();
    if (stream === undefined) return;
    if (frame.start < frame.end) {
      this.#budget.earnForData();
      stream.onData(frame);
    }
    if (isLast) this.#endOf(stream);
  }

  #onHeaders(frame: Frame): void {
    // Throws if the stream of the frame was never opened.
    this.#streams.find(frame.streamId);
    if ((frame.flags & protocol.PADDED) !== 0) removePadding(frame);
    if ((frame.flags & protocol.HAS_PRIORITY) !== 0) removePriority(frame);
    if ((frame.flags & protocol.END_HEADERS) === 0) this.#blocks.begin(frame);
    else this.#onBlock(frame, (frame.flags & protocol.END_STREAM) !== 0);
  }

  #onContinuation(frame: Frame): void {
    this.#blocks.continue(frame);
    if ((frame.flags & protocol.END_HEADERS) === 0) return;
    const block = this.#blocks.finish();
    this.#onBlock(block, block.isLast);
  }

  #onBlock(block: Omit<HeaderBlock, 'isLast'>, isLast: boolean): void {
    const stream = this.#streams.find(block.streamId);
    // Counts blocks of headers that do not end the response as useless frames (see `FrameBudget`), which limits informational headers. The first
    // block of a response is not counted, since a gRPC response needs it before its trailers.
    if (stream === undefined || (stream.hasHeaders && !isLast)) this.#budget.spend();
    else stream.hasHeaders = true;
    this.#decoder.decode(block, stream ?? IGNORED);
    if (stream === undefined) return;
    stream.onHeadersEnd(isLast);
    if (isLast) this.#endOf(stream);
  }

  /** Ends the stream, after the peer has ended its response. */
  #endOf(stream: Stream): void {
    if (!stream.isOpen) return;
    const isRequestWhole = stream.isLastSent && stream.unsent === undefined;
    // Resets the stream if the request has not ended. Otherwise the peer would keep the stream until the request ends too.
    if (!isRequestWhole) this.#writer.reset(stream.id, ERROR_CODES.NO_ERROR);
    this.#remove(stream);
    stream.onEnd();
  }

  #onReset(frame: Frame): void {
    requireSize(frame, frame.end - frame.start === 4);
    const stream = this.#streams.find(frame.streamId);
    if (stream === undefined) {
      this.#budget.spend();
      return;
    }
    this.#remove(stream);
    stream.onReset(uint32(frame.bytes, frame.start));
  }
}
