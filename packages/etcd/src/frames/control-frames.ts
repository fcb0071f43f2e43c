import type { DataSender } from './data-sender.ts';
import type { FrameBudget } from './frame-budget.ts';
import { uint32, type Frame } from './frame-reader.ts';
import type { FrameWriter } from './frame-writer.ts';
import type { HpackEncoder } from './hpack-encoder.ts';
import { requireSize } from './payload.ts';
import * as protocol from './protocol.ts';
import { ACK, ConnectionError, ERROR_CODES, MAX_31_BITS } from './protocol.ts';
import type { ReceiveWindows } from './receive-windows.ts';
import { resetAll } from './reset-all.ts';
import { readSettings } from './settings.ts';
import type { Streams } from './streams.ts';

/** Receives what happens on a connection, such as the end of its streams by a GOAWAY. */
export interface ConnectionListener {
  /** Called when the first settings of the peer have arrived. */
  onReady(): void;
  /** Called when the reply to a ping of this client has arrived. */
  onPong(): void;
  /** Called when the peer has sent a GOAWAY, with its error code. The peer accepts no further streams. */
  onGoaway(code: number): void;
  /** Called once, if the peer has violated HTTP/2. The connection reads nothing more. */
  onViolation(error: Error): void;
}

/** The parts of a connection that its control frames change, such as its windows, its streams and the encoder of headers. */
export interface ControlledParts {
  readonly writer: FrameWriter;
  readonly sender: DataSender;
  readonly windows: ReceiveWindows;
  readonly streams: Streams;
  readonly encoder: HpackEncoder;
  readonly budget: FrameBudget;
  readonly listener: ConnectionListener;
}

// A window update of fewer bytes than this counts as a useless frame. A peer may send only a limited number of them; see `FrameBudget`.
const TINY_UPDATE = 256;
const PING_PAYLOAD = Buffer.from('queueing');

/** Handles the frames that control a connection: settings, pings, window updates and GOAWAY. */
export class ControlFrames {
  /** Whether the peer has sent its settings. They must be its first frame. */
  isReady = false;
  readonly #parts: ControlledParts;
  #isPinging = false;

  constructor(parts: ControlledParts) {
    this.#parts = parts;
  }

  ping(): void {
    this.#isPinging = true;
    this.#parts.writer.ping(PING_PAYLOAD);
  }

  /**
   * Handles one frame.
   * @throws {ConnectionError} if the frame is invalid, or the peer has sent too many useless frames (see `FrameBudget`)
   */
  receive(frame: Frame): void {
    const { type } = frame;
    if (type === protocol.WINDOW_UPDATE) this.#onWindowUpdate(frame);
    else if (type === protocol.PING) this.#onPing(frame);
    else if (type === protocol.SETTINGS) this.#onSettings(frame);
    else if (type === protocol.GOAWAY) this.#onGoaway(frame);
    else if (type === protocol.PUSH_PROMISE)
      throw new ConnectionError('PROTOCOL_ERROR', 'a push, which this client has disabled');
    else {
      this.#parts.budget.spend();
      // Ignores frames of other types, also of types that do not exist yet (RFC 9113, section 5.5).
      if (type === protocol.PRIORITY) requireSize(frame, frame.end - frame.start === 5);
    }
  }

  #onWindowUpdate(frame: Frame): void {
    const { sender, streams, budget } = this.#parts;
    requireSize(frame, frame.end - frame.start === 4);
    const increment = uint32(frame.bytes, frame.start) & MAX_31_BITS;
    if (increment === 0) throw new ConnectionError('PROTOCOL_ERROR', 'a window update of 0 bytes');
    if (increment < TINY_UPDATE) budget.spend();
    if (frame.streamId === 0) {
      sender.growConnection(increment);
      return;
    }
    const stream = streams.find(frame.streamId);
    if (stream) sender.growStream(stream, increment);
    else budget.spend();
  }

  #onPing(frame: Frame): void {
    const { writer, budget, listener } = this.#parts;
    requireNoStream(frame);
    requireSize(frame, frame.end - frame.start === 8);
    if ((frame.flags & ACK) === 0) {
      budget.spend();
      writer.pong(frame);
    } else if (this.#isPinging && PING_PAYLOAD.equals(frame.bytes.subarray(frame.start, frame.end))) {
      this.#isPinging = false;
      listener.onPong();
    } else budget.spend();
  }

  #onSettings(frame: Frame): void {
    const { writer, sender, streams, encoder, budget, listener } = this.#parts;
    requireNoStream(frame);
    budget.spend();
    if ((frame.flags & ACK) !== 0) {
      requireSize(frame, frame.end === frame.start);
      return;
    }
    const { headerTableSize, maxConcurrentStreams, initialWindowSize } = readSettings(frame);
    // Acknowledges the settings of the peer before it sends any frame that follows the new settings.
    writer.settingsAck();
    if (headerTableSize !== undefined) encoder.limitTable(headerTableSize);
    if (initialWindowSize !== undefined) sender.changeInitialWindow(initialWindowSize, streams.open);
    const isFirst = !this.isReady;
    this.isReady = true;
    if (maxConcurrentStreams !== undefined) streams.limit(maxConcurrentStreams);
    else if (isFirst) streams.limit(Infinity);
    if (isFirst) listener.onReady();
  }

  #onGoaway(frame: Frame): void {
    const { sender, windows, streams, budget, listener } = this.#parts;
    requireNoStream(frame);
    requireSize(frame, frame.end - frame.start >= 8);
    budget.spend();
    const lastId = uint32(frame.bytes, frame.start) & MAX_31_BITS;
    listener.onGoaway(uint32(frame.bytes, frame.start + 4));
    const refused = streams.takeAbove(lastId);
    for (const stream of refused) {
      sender.forget(stream);
      windows.refused(stream);
    }
    resetAll(refused, ERROR_CODES.REFUSED_STREAM);
  }
}

function requireNoStream({ type, streamId }: Frame): void {
  if (streamId !== 0)
    throw new ConnectionError('PROTOCOL_ERROR', `a frame of type ${type} with the stream ${streamId}`);
}
