import { ConnectionError } from './protocol.ts';

// How many useless frames a peer may send before time permits more (the size of the budget). Node's HTTP/2 permits as many resets.
const MAX_FRAMES = 1_000;
// How many useless frames a peer may send in addition: for each second, and for each message of this client. etcd responds to a message with a ping
// and a window update.
const PER_SECOND = 100;
const PER_MESSAGE = 4;
const BYTES_PER_FRAME = 4_096;

/**
 * Limits useless frames, which only cost processor time: pings, settings, priorities, empty data, unknown frames, tiny window updates, informational
 * headers, and frames of streams that have ended. A peer may send up to 2,000 such frames at once, and 100 more each second. Each message of this
 * client permits 4 more, and one more for each 4 kB of the message. Each received frame with data permits one more. Of the unused permits of messages,
 * up to 4 are kept for each open stream. So a burst of calls may get all its replies at once.
 */
export class FrameBudget {
  #left = MAX_FRAMES;
  #filledAt = performance.now();

  /**
   * Counts one useless frame, such as a ping or an empty DATA frame.
   * @throws {ConnectionError} if the peer has sent more such frames than the budget permits
   */
  spend(): void {
    this.#left -= 1;
    if (this.#left < 0) this.#refill();
  }

  /**
   * Permits the peer to send more useless frames, since it may react with such frames to a message of `bytes` bytes. `open` is the number of open
   * streams.
   */
  earn(bytes: number, open: number): void {
    if (this.#left < MAX_FRAMES + PER_MESSAGE * open)
      this.#left += PER_MESSAGE + Math.floor(bytes / BYTES_PER_FRAME);
  }

  /** Permits one more useless frame, since the peer has sent data. Apache sends an empty frame after each frame with data. */
  earnForData(): void {
    if (this.#left < MAX_FRAMES) this.#left += 1;
  }

  #refill(): void {
    const now = performance.now();
    const earned = Math.floor(((now - this.#filledAt) * PER_SECOND) / 1_000);
    if (earned < 1) throw new ConnectionError('ENHANCE_YOUR_CALM', 'too many frames without use');
    this.#filledAt = now;
    this.#left += Math.min(MAX_FRAMES, earned);
  }
}
