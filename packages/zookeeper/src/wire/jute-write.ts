const FIRST_SIZE = 1_024;
const LARGEST_SPARE = 4_096;
const NONE = -1;
const LENGTH_BYTES = 4;

/** Writes a signed number of 32 bits, most significant byte first. */
export function putInt(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

// Nearly all requests are written one after the other, so they share one buffer, which is faster than a new
// one each time.
let spare: Buffer | undefined;

/** Writes one item of a list. */
export type Put<T> = (writer: JuteWriter, value: T) => void;

/**
 * Writes records in ZooKeeper's `jute` encoding: numbers are big-endian, and field names are not written.
 * Integers are written byte by byte, which is faster than `writeInt32BE` of Node.
 */
export class JuteWriter {
  #bytes: Buffer;
  #length: number;

  /** @param reserved the number of bytes at the beginning of the record that the caller writes later */
  constructor(reserved = 0) {
    this.#length = reserved;
    this.#bytes = spare ?? Buffer.allocUnsafeSlow(FIRST_SIZE);
    spare = undefined;
  }

  bool(value: boolean): this {
    const at = this.#take(1);
    this.#bytes[at] = value ? 1 : 0;
    return this;
  }

  int(value: number): this {
    const at = this.#length;
    this.#length = at + 4;
    if (at + 4 > this.#bytes.length) this.#grow(at);
    const bytes = this.#bytes;
    bytes[at] = value >>> 24;
    bytes[at + 1] = value >>> 16;
    bytes[at + 2] = value >>> 8;
    bytes[at + 3] = value;
    return this;
  }

  long(value: bigint): this {
    const at = this.#take(8);
    this.#bytes.writeBigInt64BE(value, at);
    return this;
  }

  /** Writes bytes. `undefined` is encoded as missing, which differs from an empty buffer. */
  buffer(value: Uint8Array | undefined): this {
    if (!value) return this.int(NONE);
    this.int(value.length);
    const at = this.#take(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  text(value: string): this {
    const at = this.#length;
    // A UTF-16 unit takes at most three bytes of UTF-8. The length is filled in after the text, so that the
    // text is read only once.
    this.#take(LENGTH_BYTES + 3 * value.length);
    const length = this.#bytes.write(value, at + LENGTH_BYTES);
    putInt(this.#bytes, at, length);
    this.#length = at + LENGTH_BYTES + length;
    return this;
  }

  /** Appends bytes that another `JuteWriter` has written. */
  raw(written: Uint8Array): this {
    const at = this.#take(written.length);
    this.#bytes.set(written, at);
    return this;
  }

  list<T>(values: readonly T[], put: Put<T>): this {
    this.int(values.length);
    for (const value of values) put(this, value);
    return this;
  }

  /** Returns the written bytes. After this call, the writer must not be used. */
  bytes(): Buffer {
    const written = Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length) as Buffer;
    if (this.#bytes.length <= LARGEST_SPARE) spare = this.#bytes;
    this.#bytes = written;
    return written;
  }

  /** Reserves `count` bytes and returns their offset. */
  #take(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) this.#grow(at);
    return at;
  }

  /** Replaces the buffer by a larger one, with the bytes that were written so far. */
  #grow(written: number): void {
    const larger = Buffer.allocUnsafeSlow(2 * this.#length);
    this.#bytes.copy(larger, 0, 0, written);
    this.#bytes = larger;
  }
}
