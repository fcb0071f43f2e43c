import { ConnectionError, FRAME_HEADER, MAX_FRAME_SIZE } from './protocol.ts';

/** A part of a buffer. */
export interface Bytes {
  bytes: Buffer;
  start: number;
  end: number;
}

/** A frame. Its payload is valid only during the call that delivers it, since the buffer is used again. */
export interface Frame extends Bytes {
  type: number;
  flags: number;
  streamId: number;
}

/** Receives frames. */
export interface FrameListener {
  onFrame(frame: Frame): void;
}

const NOTHING = Buffer.alloc(0);

/**
 * Splits received bytes into frames (RFC 9113, section 4.1). It keeps at most one incomplete frame, so at most 16 kB.
 */
export class FrameReader {
  readonly #listener: FrameListener;
  /** The current frame. All frames share this object. */
  readonly #frame: Frame = { type: 0, flags: 0, streamId: 0, bytes: NOTHING, start: 0, end: 0 };
  /** The beginning of an incomplete frame, and how many of its bytes have arrived. */
  #partial: Buffer | undefined;
  #held = 0;
  #isStopped = false;

  constructor(listener: FrameListener) {
    this.#listener = listener;
  }

  /**
   * Reads the first `length` bytes of the buffer.
   * @throws {ConnectionError} if a frame is too large
   */
  push(bytes: Buffer, length: number): void {
    let at = this.#held > 0 ? this.#complete(bytes, length) : 0;
    while (length - at >= FRAME_HEADER && !this.#isStopped) {
      const end = at + sizeOfFrame(bytes, at);
      if (end > length) break;
      this.#deliver(bytes, at, end);
      at = end;
    }
    if (at < length && !this.#isStopped) this.#hold(bytes, at, length);
  }

  /** Delivers no further frames, not even those of the bytes that are being read. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Adds bytes to the incomplete frame and delivers it if it is complete. Returns the index of the next byte. */
  #complete(bytes: Buffer, length: number): number {
    let at = Math.min(length, Math.max(0, FRAME_HEADER - this.#held));
    this.#hold(bytes, 0, at);
    if (this.#held < FRAME_HEADER) return length;
    const partial = this.#partial as Buffer;
    const size = sizeOfFrame(partial, 0);
    const end = Math.min(length, at + size - this.#held);
    this.#hold(bytes, at, end);
    at = end;
    if (this.#held === size) {
      this.#held = 0;
      this.#deliver(partial, 0, size);
    }
    return at;
  }

  #hold(bytes: Buffer, start: number, end: number): void {
    this.#partial ??= Buffer.allocUnsafeSlow(FRAME_HEADER + MAX_FRAME_SIZE);
    bytes.copy(this.#partial, this.#held, start, end);
    this.#held += end - start;
  }

  #deliver(bytes: Buffer, at: number, end: number): void {
    const frame = this.#frame;
    frame.type = bytes[at + 3] as number;
    frame.flags = bytes[at + 4] as number;
    // The first bit is reserved.
    frame.streamId =
      (((bytes[at + 5] as number) & 0x7f) << 24) |
      ((bytes[at + 6] as number) << 16) |
      ((bytes[at + 7] as number) << 8) |
      (bytes[at + 8] as number);
    frame.bytes = bytes;
    frame.start = at + FRAME_HEADER;
    frame.end = end;
    this.#listener.onFrame(frame);
  }
}

/** Returns the size of the frame that begins at the index, its header included. */
function sizeOfFrame(bytes: Buffer, at: number): number {
  const size = ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
  if (size > MAX_FRAME_SIZE) throw new ConnectionError('FRAME_SIZE_ERROR', `a frame of ${size} bytes`);
  return FRAME_HEADER + size;
}

/** Reads a number of 32 bits. */
export function uint32(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at);
}
