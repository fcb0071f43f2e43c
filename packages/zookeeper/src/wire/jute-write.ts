const FIRST_SIZE = 256;
const NONE = -1;

/** Writes one item of a list. */
export type Put<T> = (writer: JuteWriter, value: T) => void;

/** Writes records in ZooKeeper's `jute` encoding: numbers are big-endian, and field names are not written. */
export class JuteWriter {
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_SIZE);
  #length = 0;

  bool(value: boolean): this {
    const at = this.#take(1);
    this.#bytes[at] = value ? 1 : 0;
    return this;
  }

  int(value: number): this {
    const at = this.#take(4);
    this.#bytes.writeInt32BE(value, at);
    return this;
  }

  long(value: bigint): this {
    const at = this.#take(8);
    this.#bytes.writeBigInt64BE(value, at);
    return this;
  }

  /** `undefined` is encoded differently from an empty buffer. */
  buffer(value: Uint8Array | undefined): this {
    if (!value) return this.int(NONE);
    this.int(value.length);
    const at = this.#take(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  text(value: string): this {
    const length = Buffer.byteLength(value);
    this.int(length);
    const at = this.#take(length);
    this.#bytes.write(value, at);
    return this;
  }

  list<T>(values: readonly T[], put: Put<T>): this {
    this.int(values.length);
    for (const value of values) put(this, value);
    return this;
  }

  /** Returns the written bytes. The writer must not be used after it. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Reserves `count` bytes and returns their offset. */
  #take(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * this.#length);
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return at;
  }
}
