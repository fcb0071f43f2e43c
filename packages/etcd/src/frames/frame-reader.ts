import { ConnectionError, FRAME_HEADER, MAX_FRAME_SIZE } from './protocol.ts';

/** The part of a buffer from the index `start` up to, but not including, `end`. */
export interface Bytes {
  bytes: Buffer;
  start: number;
  end: number;
}

/** A frame, whose payload is a part of a buffer. The payload is valid only during `onFrame`, because the reader reuses the buffer. */
export interface Frame extends Bytes {
  type: number;
  flags: number;
  streamId: number;
}

/** Receives the frames that a `FrameReader` has read. */
export interface FrameListener {
  onFrame(frame: Frame): void;
}

const NOTHING = Buffer.alloc(0);

/** Splits received bytes into frames (RFC 9113, section 4.1). It stores at most one incomplete frame, which is at most 16 kB. */
export class FrameReader {
  readonly #listener: FrameListener;
  /** The frame that the listener receives now. The reader reuses this object for every frame. */
  readonly #frame: Frame = { type: 0, flags: 0, streamId: 0, bytes: NOTHING, start: 0, end: 0 };
  /** The beginning of an incomplete frame, and how many of its bytes have arrived. */
  #partial: Buffer | undefined;
  #held = 0;
  #isStopped = false;

  constructor(listener: FrameListener) {
    this.#listener = listener;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /**
   * Reads the first `length` bytes of the buffer, and passes each complete frame to the listener. Does nothing after `stop`.
   * @throws {ConnectionError} if a frame is too large
   */
  push(bytes: Buffer, length: number): void {
    if (this.isStopped) return;
    let at = this.#held > 0 ? this.#complete(bytes, length) : 0;
    while (length - at >= FRAME_HEADER && !this.#isStopped) {
      const end = at + sizeOfFrame(bytes, at);
      if (end > length) break;
      this.#deliver(bytes, at, end);
      at = end;
    }
    if (at < length && !this.#isStopped) this.#hold(bytes, at, length);
  }

  /** Stops passing frames to the listener, even those in the bytes that `push` is processing. */
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
    // Drops the first bit of the stream id, which HTTP/2 reserves.
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

/** Returns the size in bytes of the frame that begins at the index `at`, its header included. */
function sizeOfFrame(bytes: Buffer, at: number): number {
  const size = ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
  if (size > MAX_FRAME_SIZE) throw new ConnectionError('FRAME_SIZE_ERROR', `a frame of ${size} bytes`);
  return FRAME_HEADER + size;
}

/** Returns the unsigned 32-bit number at the index `at`. */
export function uint32(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at);
}
