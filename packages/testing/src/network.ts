import { QueueLockError } from '@queuelock/core';
import type { Intercept, MemoryCall } from '@queuelock/memory';
import type { ProcessClock } from './process-clock.ts';

/** Simulated faults of the connection between one client and the test store. */
export interface Network {
  /** Whether the client and the store cannot reach each other now. */
  readonly isPartitioned: boolean;
  /**
   * Cuts the connection: requests and replies are lost, and notifications wait until `heal` is called. The
   * session expires after its TTL.
   */
  partition(): void;
  /** Restores the connection. Does nothing if it was not cut. */
  heal(): void;
  /**
   * Loses the client's next request, or its next call of the backend function `call`. The store does not
   * receive the request, and the client gets no reply.
   */
  loseRequest(call?: MemoryCall): void;
  /**
   * Loses the store's next reply, or its next reply to a call of the backend function `call`. The request
   * takes effect, and the client gets no reply.
   */
  loseReply(call?: MemoryCall): void;
}

interface Loss {
  readonly what: 'request' | 'reply';
  readonly call: MemoryCall | undefined;
}

/** How long a client waits for a reply that does not come, in milliseconds. */
const REPLY_TIMEOUT_MS = 1_000;

/** The connection of one simulated process to the test store. */
export class FaultyNetwork implements Network {
  readonly #clock: ProcessClock;
  readonly #losses: Loss[] = [];
  #held: (() => void)[] = [];
  #isPartitioned = false;

  constructor(clock: ProcessClock) {
    this.#clock = clock;
  }

  get isPartitioned(): boolean {
    return this.#isPartitioned;
  }

  partition(): void {
    this.#isPartitioned = true;
  }

  heal(): void {
    this.#isPartitioned = false;
    const held = this.#held;
    this.#held = [];
    for (const arrive of held) this.deliver(arrive);
  }

  loseRequest(call?: MemoryCall): void {
    this.#losses.push({ what: 'request', call });
  }

  loseReply(call?: MemoryCall): void {
    this.#losses.push({ what: 'reply', call });
  }

  readonly intercept: Intercept = async (call, proceed) => {
    await this.#running();
    const loss = this.#lossOf(call);
    if (loss === 'request' || this.#isPartitioned) return this.#noReply(call);
    const reply = proceed();
    reply.catch(() => undefined);
    if (loss === 'reply') return this.#noReply(call);
    await reply.catch(() => undefined);
    // Checks the connection again: since the request, the process may have been paused, or its connection
    // cut.
    await this.#running();
    return this.isPartitioned ? this.#noReply(call) : reply;
  };

  readonly deliver = (arrive: () => void): void => {
    if (this.#isPartitioned) this.#held.push(arrive);
    else this.#clock.whenRunning(arrive);
  };

  #lossOf(call: MemoryCall): Loss['what'] | undefined {
    const index = this.#losses.findIndex((loss) => loss.call === undefined || loss.call === call);
    return index === -1 ? undefined : this.#losses.splice(index, 1)[0]?.what;
  }

  #running(): Promise<void> {
    return new Promise((resolve) => this.#clock.whenRunning(resolve));
  }

  #noReply(call: MemoryCall): Promise<never> {
    return new Promise((_resolve, reject) => {
      this.#clock.after(REPLY_TIMEOUT_MS, () =>
        reject(new QueueLockError('UNAVAILABLE', `no reply to ${call} within ${REPLY_TIMEOUT_MS} ms`)),
      );
    });
  }
}
