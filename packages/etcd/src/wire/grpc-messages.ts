/** Size of the prefix before each gRPC message, in bytes: one for the compression, four for the length. */
export const PREFIX = 5;
const NOT_COMPRESSED = 0;
/** Largest message in bytes that is read. A response with 100,000 entries has about 20 MiB. */
export const MAX_MESSAGE_BYTES: number = 256 * 1024 * 1024;

/** Returns whether the bytes from `start` to `end` are exactly one uncompressed message with its prefix. */
export function isOneMessage(bytes: Buffer, start = 0, end: number = bytes.length): boolean {
  if (end - start < PREFIX || bytes[start] !== NOT_COMPRESSED) return false;
  const high = ((bytes[start + 1] as number) << 8) | (bytes[start + 2] as number);
  const low = ((bytes[start + 3] as number) << 8) | (bytes[start + 4] as number);
  return high * 0x1_0000 + low === end - start - PREFIX;
}

/** Splits the bytes of a stream into gRPC messages. A chunk of bytes may contain several messages, or only a part of one. */
export class MessageReader {
  #pieces: Buffer[] = [];
  #length = 0;
  /**
   * How many bytes must have arrived before the next attempt to split them into messages. So a long message is not copied once for each of its
   * chunks.
   */
  #wanted = PREFIX;

  /** Whether the received bytes end within a message, which is then incomplete. */
  get isHalf(): boolean {
    return this.#length > 0;
  }

  /**
   * Adds a chunk of received bytes, and returns the messages that are complete now. Throws for a compressed message, since no call requests
   * compression, and for a message of more than 256 MiB.
   */
  push(piece: Buffer): Buffer[] {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length < this.#wanted) return [];
    const messages: Buffer[] = [];
    let rest = this.#length === piece.length ? piece : Buffer.concat(this.#pieces, this.#length);
    for (;;) {
      this.#wanted = sizeOf(rest);
      if (rest.length < this.#wanted) break;
      messages.push(rest.subarray(PREFIX, this.#wanted));
      rest = rest.subarray(this.#wanted);
    }
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    return messages;
  }
}

/**
 * Returns the size of the first message in the bytes, its prefix included. If the prefix is incomplete, returns the size of
 * the prefix.
 */
function sizeOf(bytes: Buffer): number {
  return bytes.length < PREFIX ? PREFIX : messageSizeAt(bytes, 0);
}

/**
 * Returns the size of the message whose prefix begins at the index, its prefix included. Throws for a compressed message, since no call
 * requests compression, and for one of more than 256 MiB.
 */
export function messageSizeAt(bytes: Buffer, at: number): number {
  if (bytes[at] !== NOT_COMPRESSED) throw new Error('a compressed message, which was not requested');
  const length = bytes.readUInt32BE(at + 1);
  if (length > MAX_MESSAGE_BYTES)
    throw new Error(
      `a message of ${String(length)} bytes, and at most ${String(MAX_MESSAGE_BYTES)} are read`,
    );
  return PREFIX + length;
}
