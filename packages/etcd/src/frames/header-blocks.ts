import type { Bytes, Frame } from './frame-reader.ts';
import { ConnectionError, END_STREAM } from './protocol.ts';

// Limits of one block of headers that a peer sends in several frames: its size in bytes, and its number of frames.
const MAX_BLOCK = 65_536;
const MAX_FRAMES = 16;

/** A block of headers that is complete. */
export interface HeaderBlock extends Bytes {
  readonly streamId: number;
  readonly isLast: boolean;
}

/** Joins the parts of a block of headers that a peer sends in several frames (RFC 9113, section 6.10): at most 64 kB in 16 frames. */
export class HeaderBlocks {
  /** Whether a block of headers is incomplete. The peer may then send no frame other than the next part of the block. */
  isOpen = false;
  #parts: Buffer[] = [];
  #length = 0;
  #streamId = 0;
  #isLast = false;

  /** Starts an incomplete block of headers with its first part. */
  begin(frame: Frame): void {
    this.#streamId = frame.streamId;
    this.#isLast = (frame.flags & END_STREAM) !== 0;
    this.#length = 0;
    this.isOpen = true;
    this.#add(frame);
  }

  /**
   * Adds the next part of a block of headers.
   * @throws {ConnectionError} if the part belongs to no block, or the block is too large
   */
  continue(frame: Frame): void {
    if (!this.isOpen || frame.streamId !== this.#streamId)
      throw new ConnectionError('PROTOCOL_ERROR', 'a continuation without headers');
    this.#add(frame);
    if (this.#parts.length > MAX_FRAMES || this.#length > MAX_BLOCK)
      throw new ConnectionError('ENHANCE_YOUR_CALM', 'headers in too many or too large frames');
  }

  /** Returns the whole block of headers after its last part was added. */
  finish(): HeaderBlock {
    const bytes = Buffer.concat(this.#parts, this.#length);
    this.#parts = [];
    this.isOpen = false;
    return { bytes, start: 0, end: bytes.length, streamId: this.#streamId, isLast: this.#isLast };
  }

  #add({ bytes, start, end }: Frame): void {
    this.#parts.push(Buffer.from(bytes.subarray(start, end)));
    this.#length += end - start;
  }
}
