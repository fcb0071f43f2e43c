import type { Clock } from '../base/clock.ts';

// Maximum random delay of a read in milliseconds for each entry ahead. At most 25 entries ahead count.
// Because of the delay, the waiters near the head read first. After that, the store notifies the other
// waiters, or their reads find that the expired entry has been removed.
const APART_MS = 4;
const FARTHEST = 25;
const AGAIN_AFTER_MS = 500;
// Maximum time in milliseconds until the next read; no lease is longer. A store may return a larger number,
// which would overflow the timer. Such a timer would fire at once, again and again.
const MAX_LEASE_MS = 24 * 60 * 60 * 1_000;

/** Settings of a `HeadLeaseTimer`. */
export interface HeadLeaseTimerOptions {
  readonly clock: Clock;
  /**
   * Reads the remaining time of the first entry's lease in each queue, in milliseconds. The time is null if the queue is empty. The read also removes
   * expired entries.
   */
  readonly readLeaseEnds: (queues: readonly string[]) => Promise<readonly (number | null)[]>;
  /** Returns whether a waiter of this process still waits in `queue`. */
  readonly isWanted: (queue: string) => boolean;
  /** Minimum delay before a read, in milliseconds. Meanwhile another client may remove the expired entry. Default 0. */
  readonly minDelayMs?: number;
}

/**
 * Reads a queue when the lease of its first entry may have ended, because leases expire without a notification. In normal operation that is once per
 * TTL of the first entry's session. Any client's read removes expired entries.
 */
export class HeadLeaseTimer {
  readonly #settings: HeadLeaseTimerOptions;
  readonly #reads = new Map<string, number>();
  #cancel: (() => void) | undefined;
  #cancelledAt = Infinity;
  #isClosed = false;

  constructor(settings: HeadLeaseTimerOptions) {
    this.#settings = settings;
  }

  /**
   * Schedules a read of `queue` for the time at which the lease of its first entry ends.
   * @param ahead the number of entries ahead of the waiter
   */
  watch(queue: string, endsInMs: number | null, ahead: number): void {
    if (endsInMs === null) return;
    const { clock, minDelayMs = 0 } = this.#settings;
    const leaseMs = endsInMs <= MAX_LEASE_MS ? endsInMs : MAX_LEASE_MS;
    const spreadMs = Math.min(ahead, FARTHEST) * APART_MS * (clock.random?.() ?? Math.random());
    const at = clock.now() + Math.max(minDelayMs, Math.ceil(leaseMs) + 1) + spreadMs;
    if (at >= (this.#reads.get(queue) ?? Infinity)) return;
    this.#reads.set(queue, at);
    this.#arm();
  }

  /** Cancels the scheduled reads of all queues. */
  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #arm(): void {
    const first = Math.min(...this.#reads.values());
    if (this.#isClosed || first === Infinity || first >= this.#cancelledAt) return;
    this.#cancel?.();
    this.#cancelledAt = first;
    this.#cancel = this.#settings.clock.after(Math.max(0, first - this.#settings.clock.now()), () => {
      this.#cancel = undefined;
      this.#cancelledAt = Infinity;
      void this.#read();
    });
  }

  async #read(): Promise<void> {
    const now = this.#settings.clock.now();
    const due = [...this.#reads].filter(([, at]) => at <= now).map(([queue]) => queue);
    for (const queue of due) this.#reads.delete(queue);
    const wanted = due.filter((queue) => this.#settings.isWanted(queue));
    if (wanted.length > 0) {
      const ends = await this.#settings.readLeaseEnds(wanted).catch(() => wanted.map(() => AGAIN_AFTER_MS));
      for (const [place, queue] of wanted.entries()) this.watch(queue, ends[place] ?? null, FARTHEST);
    }
    this.#arm();
  }
}
