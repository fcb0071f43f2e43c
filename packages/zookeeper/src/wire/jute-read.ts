import { WireError } from './wire-error.ts';

/**
 * Reads a signed number of 32 bits at the offset `at`, most significant byte first. The caller ensures that
 * the four bytes exist.
 */
export function intAt(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] ?? 0) << 24) |
    ((bytes[at + 1] ?? 0) << 16) |
    ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)
  );
}

/** Reads a record, or one item of a list. */
export type Get<T> = (reader: JuteReader) => T;

/** Reads records in ZooKeeper's `jute` encoding. For any input it takes no more memory than a few times the input. */
export class JuteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The number of bytes that have not been read. */
  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** Reads a boolean. Like all methods of this class, throws a `WireError` when the input is too short. */
  bool(): boolean {
    return this.#bytes.readUInt8(this.#pass(1)) !== 0;
  }

  int(): number {
    const at = this.#at;
    if (at + 4 > this.#bytes.length) this.#pass(4);
    this.#at = at + 4;
    return intAt(this.#bytes, at);
  }

  long(): bigint {
    return this.#bytes.readBigInt64BE(this.#pass(8));
  }

  /** Reads a sequence of bytes. Returns a view of the received bytes, not a copy. */
  buffer(): Buffer | undefined {
    const length = this.int();
    if (length < 0) return undefined;
    const at = this.#pass(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** Skips the next `count` bytes. */
  skip(count: number): void {
    this.#pass(count);
  }

  /** Reads the beginning of a reply: request number, transaction id and result code. It reads all three in one step, for speed. */
  header(): { readonly xid: number; readonly zxid: bigint; readonly err: number } {
    const bytes = this.#bytes;
    const at = this.#pass(16);
    return { xid: intAt(bytes, at), zxid: bytes.readBigInt64BE(at + 4), err: intAt(bytes, at + 12) };
  }

  /** Reads a text. A text that is encoded as missing is read as an empty one. */
  text(): string {
    const length = this.int();
    if (length < 0) return '';
    const at = this.#pass(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  /**
   * Reads a list. A list that is encoded as missing is read as an empty one. Throws when the list claims more
   * items than there are bytes.
   */
  list<T>(get: Get<T>): T[] {
    const count = this.int();
    if (count > this.left) throw new WireError(`a list of ${count} items in ${this.left} bytes`);
    const items: T[] = [];
    for (let index = 0; index < count; index += 1) items.push(get(this));
    return items;
  }

  /** Skips the next `count` bytes, and returns their offset. */
  #pass(count: number): number {
    const at = this.#at;
    const end = at + count;
    if (end > this.#bytes.length)
      throw new WireError(`${count} bytes are requested where ${this.left} remain`);
    this.#at = end;
    return at;
  }
}
