/** The size of what precedes a message: one byte for the compression, four for the length. */
export const PREFIX = 5;
const NOT_COMPRESSED = 0;

/** Returns whether the bytes are one uncompressed message with its prefix, and nothing else. */
export function isOneMessage(bytes: Buffer): boolean {
  if (bytes.length < PREFIX || bytes[0] !== NOT_COMPRESSED) return false;
  const high = ((bytes[1] as number) << 8) | (bytes[2] as number);
  const low = ((bytes[3] as number) << 8) | (bytes[4] as number);
  return high * 0x1_0000 + low === bytes.length - PREFIX;
}

/** Splits the bytes of a stream into gRPC messages. A piece may contain several messages or only a part of one. */
export class MessageReader {
  #pieces: Buffer[] = [];
  #length = 0;
  /** How many bytes must arrive before the next attempt to split, so that no message is copied once for each of its pieces. */
  #wanted = PREFIX;

  /** Whether the last message is incomplete. */
  get isHalf(): boolean {
    return this.#length > 0;
  }

  /** Returns the messages that end in this piece. Throws for a compressed message, since no call requests compression. */
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

/** Returns the size of the message that begins here, prefix included, or the size of the prefix if that is incomplete. */
function sizeOf(bytes: Buffer): number {
  if (bytes.length < PREFIX) return PREFIX;
  if (bytes[0] !== NOT_COMPRESSED) throw new Error('a compressed message, which was not requested');
  return PREFIX + bytes.readUInt32BE(1);
}
