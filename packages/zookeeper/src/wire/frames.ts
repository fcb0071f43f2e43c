import { WireError } from './wire-error.ts';

/** The bytes in front of a frame that say how long it is. */
export const LENGTH_BYTES = 4;
// Chunks that are shorter are joined: each costs a hundred bytes besides.
const SHORT_BYTES = 4_096;

/**
 * Takes a stream apart into frames: a length, and so many bytes. Never holds more than has come, whatever a length
 * says, and refuses a frame that is longer than `mostBytes` before it comes.
 */
export class FrameReader {
  readonly #mostBytes: number;
  /** What has come and was not taken, in its order. */
  #chunks: Buffer[] = [];
  #held = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** How many bytes wait for the rest of their frame, or for somebody to take them. */
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
   * The next frame without its length, if all of it has come: a view of what came.
   * @throws {WireError} for a length that cannot be
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

  /** The first chunk, made to be at least so long; there are as many bytes. */
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

/** The bytes that go over the wire for a frame whose first four bytes were left free. */
export function framed(bytes: Buffer): Buffer {
  bytes.writeInt32BE(bytes.length - LENGTH_BYTES, 0);
  return bytes;
}
