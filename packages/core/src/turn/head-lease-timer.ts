import type { Clock } from '../base/clock.ts';

// Whoever is next looks first, and the others hear of it or find it done.
const APART_MS = 4;
const FARTHEST = 25;
const AGAIN_AFTER_MS = 500;

/** Where it is asked when leases end, and for whom. */
export interface HeadLeaseTimerOptions {
  readonly clock: Clock;
  /** In how many milliseconds the first lease in front of each queue ends; null: there is nobody. It ends what is over. */
  readonly readLeaseEnds: (queues: readonly string[]) => Promise<readonly (number | null)[]>;
  /** Whether anybody still waits for what comes in that queue. */
  readonly isWanted: (queue: string) => boolean;
  /** Nobody looks sooner than that, in milliseconds: a lease that is over may be being ended by somebody else. Default 0. */
  readonly minDelayMs?: number;
}

/**
 * Leases end without a word, so whoever waits looks when the first one in front may have ended: once in a TTL while all goes well. A look
 * ends what is over, whoever looks.
 */
export class HeadLeaseTimer {
  readonly #settings: HeadLeaseTimerOptions;
  readonly #looks = new Map<string, number>();
  #cancel: (() => void) | undefined;
  #cancelledAt = Infinity;
  #isClosed = false;

  constructor(settings: HeadLeaseTimerOptions) {
    this.#settings = settings;
  }

  /** The first lease in front ends so soon, and so many are ahead of the one that waits. */
  watch(queue: string, endsInMs: number | null, ahead: number): void {
    if (endsInMs === null) return;
    const { clock, minDelayMs = 0 } = this.#settings;
    const spreadMs = Math.min(ahead, FARTHEST) * APART_MS * (clock.random?.() ?? Math.random());
    const at = clock.now() + Math.max(minDelayMs, Math.ceil(endsInMs) + 1) + spreadMs;
    if (at >= (this.#looks.get(queue) ?? Infinity)) return;
    this.#looks.set(queue, at);
    this.#arm();
  }

  /** Nobody looks any more. */
  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #arm(): void {
    const first = Math.min(...this.#looks.values());
    if (this.#isClosed || first === Infinity || first >= this.#cancelledAt) return;
    this.#cancel?.();
    this.#cancelledAt = first;
    this.#cancel = this.#settings.clock.after(Math.max(0, first - this.#settings.clock.now()), () => {
      this.#cancel = undefined;
      this.#cancelledAt = Infinity;
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    const now = this.#settings.clock.now();
    const due = [...this.#looks].filter(([, at]) => at <= now).map(([queue]) => queue);
    for (const queue of due) this.#looks.delete(queue);
    const wanted = due.filter((queue) => this.#settings.isWanted(queue));
    if (wanted.length > 0) {
      const ends = await this.#settings.readLeaseEnds(wanted).catch(() => wanted.map(() => AGAIN_AFTER_MS));
      for (const [place, queue] of wanted.entries()) this.watch(queue, ends[place] ?? null, FARTHEST);
    }
    this.#arm();
  }
}
