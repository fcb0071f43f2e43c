import { intAt } from './jute-read.ts';
import { putInt } from './jute-write.ts';
import { WireError } from './wire-error.ts';

/** The number of bytes before a frame that contain its length. */
export const LENGTH_BYTES = 4;
// Chunks with fewer bytes than this are joined, because a chunk takes about 100 bytes of memory besides its
// content.
const SHORT_BYTES = 4_096;

/**
 * Splits a stream into frames. Each frame is a length and that many bytes. It buffers only what has arrived, whatever the length field
 * claims. A frame longer than `mostBytes` is refused as soon as its length has arrived.
 */
export class FrameReader {
  readonly #mostBytes: number;
  /** The received chunks that were not read yet, in order. The first one was read up to the offset `#at`. */
  #chunks: Buffer[] = [];
  #at = 0;
  #held = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The number of received bytes that were not read yet. */
  get held(): number {
    return this.#held;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const end = this.#chunks.length - 1;
    const last = this.#chunks[end];
    if (last && last.length + chunk.length <= SHORT_BYTES) this.#chunks[end] = Buffer.concat([last, chunk]);
    else this.#chunks.push(chunk);
    this.#held += chunk.length;
  }

  /**
   * Returns the next frame without its length if it is complete: a view of the received bytes.
   * @throws {WireError} for an invalid length
   */
  next(): Buffer | undefined {
    if (this.#held < LENGTH_BYTES) return undefined;
    const [front] = this.#chunks;
    // Usually the first chunk contains the whole frame, so that no chunks need to be joined.
    const begun = front && front.length - this.#at >= LENGTH_BYTES ? front : this.#front(LENGTH_BYTES);
    const length = intAt(begun, this.#at);
    if (length < 0 || length > this.#mostBytes) throw new WireError(`a frame of ${length} bytes`);
    const size = LENGTH_BYTES + length;
    if (this.#held < size) return undefined;
    const first = begun.length - this.#at >= size ? begun : this.#front(size);
    const begin = this.#at + LENGTH_BYTES;
    this.#at += size;
    this.#held -= size;
    if (this.#at === first.length) {
      this.#chunks.shift();
      this.#at = 0;
    }
    return first.subarray(begin, begin + length);
  }

  /** Joins received chunks until the first one has `count` unread bytes, and returns it. Call it only when `count` bytes have arrived. */
  #front(count: number): Buffer {
    const [first] = this.#chunks;
    if (first && first.length - this.#at >= count) return first;
    const joined: Buffer[] = [];
    for (let length = -this.#at; length < count;) {
      const chunk = this.#chunks.shift() ?? Buffer.alloc(0);
      joined.push(chunk);
      length += chunk.length;
    }
    const front = Buffer.concat(joined);
    this.#chunks.unshift(front);
    return front;
  }
}

/** Writes the length into the first four bytes of a frame. */
export function framed(bytes: Buffer): Buffer {
  putInt(bytes, 0, bytes.length - LENGTH_BYTES);
  return bytes;
}
