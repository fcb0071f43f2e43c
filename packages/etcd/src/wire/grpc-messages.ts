const PREFIX = 5;
const NOT_COMPRESSED = 0;

/** Puts messages together from pieces, of which one may hold several or only a part of one. */
export class MessageReader {
  #pieces: Buffer[] = [];
  #length = 0;
  /** How many bytes there have to be before the next look; no message is copied for each of its pieces. */
  #wanted = PREFIX;

  /** Whether a message has begun and not ended. */
  get isHalf(): boolean {
    return this.#length > 0;
  }

  /** The messages that end in this piece. Throws at a compressed one, which nobody has asked for. */
  push(piece: Buffer): Buffer[] {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length < this.#wanted) return [];
    if (this.#length === piece.length && sizeOf(piece) === piece.length) {
      this.#pieces = [];
      this.#length = 0;
      this.#wanted = PREFIX;
      return [piece.subarray(PREFIX)];
    }
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

/** Of the message that begins here, as far as can be told; its prefix included. */
function sizeOf(bytes: Buffer): number {
  if (bytes.length < PREFIX) return PREFIX;
  if (bytes[0] !== NOT_COMPRESSED) throw new Error('a compressed message, which was not asked for');
  return PREFIX + bytes.readUInt32BE(1);
}
