import type { Intercept, MemoryCall } from '@queuelock/memory';
import { QueueLockError } from '../../src/index.ts';
import type { Machine, Timeline } from './timeline.ts';

/** The random faults of a history, one byte for every message. The byte 0 means no fault, and messages after the last byte have no fault. */
export class Fates {
  readonly #bytes: ArrayLike<number>;
  #next = 0;

  constructor(bytes: ArrayLike<number>) {
    this.#bytes = bytes;
  }

  draw(): number {
    return this.#bytes[this.#next++] ?? 0;
  }

  /** Ends all faults from now on. */
  calm(): void {
    this.#next = this.#bytes.length;
  }
}

/** The times at which one call arrives, gets its reply and fails, in milliseconds after the call. An event without a time never happens. */
interface Fate {
  readonly arrivesIn?: number;
  /** The delay of the reply after the arrival of the request. */
  readonly repliesIn?: number;
  readonly failsIn: number;
}

// The timeout of one attempt in milliseconds, as backends have it.
const ATTEMPT_MS = 250;
const RENEWAL_MS = 1_000;
const NEAR_MS = [2, 2, 3, 5, 10, 20, 40, 80] as const;

/**
 * Returns the times of a call, which are decided by one random byte. Three of four calls work. `level` gives the latency or the delay,
 * from 0 to 7.
 */
function fateOf(byte: number, failsIn: number): Fate {
  const level = byte >> 5;
  const near = NEAR_MS[level] ?? 2;
  switch (byte & 31) {
    case 24: // The request is lost.
      return { failsIn };
    case 25: // The reply is lost.
      return { arrivesIn: near, failsIn };
    case 26: // The request arrives after the timeout of its caller,
      return { arrivesIn: failsIn + near * 5, failsIn };
    case 27: // or long after.
      return { arrivesIn: failsIn + 400 * level, failsIn };
    case 28: // The connection breaks before the request is sent,
      return { failsIn: near };
    case 29: // or before the reply.
      return { arrivesIn: 2, failsIn: 2 + near };
    case 30: // The reply is slow.
      return { arrivesIn: near, repliesIn: 40 * (level + 1), failsIn };
    case 31: // The request is slow.
      return { arrivesIn: 30 * (level + 1), repliesIn: 2, failsIn };
    default:
      return { arrivesIn: near, repliesIn: NEAR_MS[(level * 3) % 8] ?? 2, failsIn };
  }
}

function delayOf(byte: number): number {
  const level = byte >> 5;
  return (byte & 31) < 26 ? (NEAR_MS[level] ?? 2) : 100 + level * 250;
}

/** The network between one machine and the server. */
export class Network {
  readonly #timeline: Timeline;
  readonly #machine: Machine;
  readonly #fates: Fates;
  #cut: { readonly until: number; readonly what: 'requests' | 'answers' } = { until: 0, what: 'requests' };
  /** Events that are delivered when the connection works again, because the watch of a backend reads missed changes by itself. */
  readonly #heldBack: (() => void)[] = [];
  #failures = 0;

  constructor(timeline: Timeline, machine: Machine, fates: Fates) {
    this.#timeline = timeline;
    this.#machine = machine;
    this.#fates = fates;
  }

  /** Whether a call has failed or may have failed because of the network or the machine. */
  get hadTrouble(): boolean {
    return this.#failures > 0 || this.#machine.wasFrozen;
  }

  /** Blocks all messages, or only the replies. */
  cut(ms: number, what: 'requests' | 'answers'): void {
    this.#cut = { until: this.#timeline.now() + ms, what };
    this.#timeline.after(ms, () => {
      if (this.#cutMs === 0) this.heal();
    });
  }

  heal(): void {
    this.#cut = { until: 0, what: 'requests' };
    for (const send of this.#heldBack.splice(0)) send();
  }

  get #cutMs(): number {
    return Math.max(0, this.#cut.until - this.#timeline.now());
  }

  readonly intercept: Intercept = (call, proceed) => {
    const { arrivesIn, repliesIn, failsIn } = this.#fateOf(call);
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#failures++;
        reject(new QueueLockError('UNAVAILABLE', `no answer to ${call}`));
      };
      const stopWaiting = this.#timeline.after(failsIn, giveUp, this.#machine);
      const answerTo = (reply: ReturnType<typeof proceed>): void => {
        stopWaiting();
        reply.then(resolve, reject);
      };
      const arrive = (): void => {
        const reply = proceed();
        if (repliesIn !== undefined) {
          this.#timeline.after(repliesIn, () => answerTo(reply), this.#machine);
        }
      };
      if (arrivesIn !== undefined) this.#timeline.after(arrivesIn, arrive);
    });
  };

  readonly deliver = (arrive: () => void): void => {
    const send = (): void => {
      this.#timeline.after(delayOf(this.#fates.draw()), arrive, this.#machine);
    };
    if (this.#cutMs > 0) this.#heldBack.push(send);
    else send();
  };

  #fateOf(call: MemoryCall): Fate {
    const limitMs = call === 'renew' ? RENEWAL_MS : ATTEMPT_MS;
    const fate = fateOf(this.#fates.draw(), limitMs);
    if (this.#cutMs === 0) return fate;
    return this.#cut.what === 'requests' || fate.arrivesIn === undefined
      ? { failsIn: limitMs }
      : { arrivesIn: fate.arrivesIn, failsIn: limitMs };
  }
}
