import { WireError } from './wire-error.ts';

/** The number of bytes before a frame that contain its length. */
export const LENGTH_BYTES = 4;
// Shorter chunks are joined, because each chunk costs 100 more bytes.
const SHORT_BYTES = 4_096;

/**
 * Splits a stream into frames, each of which is a length and that many bytes. It never buffers more than it received, whatever the length field is.
 * It refuses a frame that is longer than `mostBytes` before that frame arrives.
 */
export class FrameReader {
  readonly #mostBytes: number;
  /** The received chunks that were not consumed, in order. */
  #chunks: Buffer[] = [];
  #held = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The number of bytes of incomplete frames and of frames that were not consumed. */
  get held(): number {
    return this.#held;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const last = this.#chunks.at(-1);
    if (last && last.length + chunk.length <= SHORT_BYTES) {
      this.#chunks[this.#chunks.length - 1] = Buffer.concat([last, chunk]);
    } else {
      this.#chunks.push(chunk);
    }
    this.#held += chunk.length;
  }

  /**
   * Returns the next frame without its length if it is complete: a view of the received bytes.
   * @throws {WireError} for an invalid length
   */
  next(): Buffer | undefined {
    if (this.#held < LENGTH_BYTES) return undefined;
    const length = this.#front(LENGTH_BYTES).readInt32BE(0);
    if (length < 0 || length > this.#mostBytes) throw new WireError(`a frame of ${length} bytes`);
    const end = LENGTH_BYTES + length;
    if (this.#held < end) return undefined;
    const first = this.#front(end);
    this.#chunks[0] = first.subarray(end);
    if (first.length === end) this.#chunks.shift();
    this.#held -= end;
    return first.subarray(LENGTH_BYTES, end);
  }

  /** Joins chunks until the first one has at least that many bytes, and returns it. The bytes must have arrived. */
  #front(count: number): Buffer {
    const [first] = this.#chunks;
    if (first && first.length >= count) return first;
    const joined: Buffer[] = [];
    for (let length = 0; length < count;) {
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
  bytes.writeInt32BE(bytes.length - LENGTH_BYTES, 0);
  return bytes;
}
