import { copyOf } from '../base/copied-bytes.ts';
import { PREFIX, messageSizeAt } from './grpc-messages.ts';

const USUAL_SIZE = 1_024;

/**
 * Joins the parts of gRPC messages in a buffer that grows with the received bytes, not with the length that a prefix announces. The buffer needs at
 * most twice the memory of these bytes.
 */
export class MessageBuffer {
  #buffer = Buffer.allocUnsafeSlow(USUAL_SIZE);
  #length = 0;

  /** Whether the received bytes end within a message, which is then incomplete. */
  get isHalf(): boolean {
    return this.#length > 0;
  }

  /**
   * Adds received bytes, and returns the gRPC messages that are complete now. Throws for a compressed message, since no call requests compression,
   * and for a message of more than 256 MiB.
   */
  push(bytes: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    this.#append(bytes);
    let at = 0;
    while (this.#length - at >= PREFIX) {
      const end = at + messageSizeAt(this.#buffer, at);
      if (end > this.#length) break;
      messages.push(copyOf(this.#buffer, at + PREFIX, end));
      at = end;
    }
    if (at === 0) return messages;
    this.#length -= at;
    const rest = copyOf(this.#buffer, at, at + this.#length);
    if (this.#buffer.length > USUAL_SIZE)
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(USUAL_SIZE, rest.length));
    this.#buffer.set(rest);
    return messages;
  }

  #append(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(2 * length);
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
  }
}
