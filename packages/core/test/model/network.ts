import type { Intercept, MemoryCall } from '@queuelock/memory';
import { QueueLockError } from '../../src/index.ts';
import type { Machine, Timeline } from './timeline.ts';

/**
 * The random faults of a history: each byte decides what happens to one call. The byte 0 means no fault.
 * Calls after the last byte have no faults.
 */
export class Fates {
  readonly #bytes: ArrayLike<number>;
  #next = 0;

  constructor(bytes: ArrayLike<number>) {
    this.#bytes = bytes;
  }

  draw(): number {
    return this.#bytes[this.#next++] ?? 0;
  }

  /** Ends the faults: all later messages arrive without one. */
  calm(): void {
    this.#next = this.#bytes.length;
  }
}

/**
 * Times of one request: the arrival at the server, the arrival of the reply, and the failure of the call without a reply. A missing time means that
 * this never happens.
 */
interface Fate {
  readonly arrivesIn?: number;
  /**
   * Milliseconds between the arrival of the request at the server and the arrival of the reply at the client.
   */
  readonly repliesIn?: number;
  readonly failsIn: number;
}

// The timeout of one request in milliseconds, as real backends have it. Heartbeats have a longer one.
const ATTEMPT_MS = 250;
const RENEWAL_MS = 1_000;
const NEAR_MS = [2, 2, 3, 5, 10, 20, 40, 80] as const;

/**
 * Converts a random byte to the arrival times of one request. The lower five bits select a fault, in one of
 * four cases. The upper three bits select how late the messages are.
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

/** The simulated network between one client's machine and the server. */
export class Network {
  readonly #timeline: Timeline;
  readonly #machine: Machine;
  readonly #fates: Fates;
  #cut: { readonly until: number; readonly what: 'requests' | 'answers' } = { until: 0, what: 'requests' };
  /**
   * Notifications to deliver when the connection works again. A real backend would then read the changes that
   * it missed.
   */
  readonly #heldBack: (() => void)[] = [];
  #failures = 0;

  constructor(timeline: Timeline, machine: Machine, fates: Fates) {
    this.#timeline = timeline;
    this.#machine = machine;
    this.#fates = fates;
  }

  /** Whether any call of this client may have failed because of the network or a frozen machine. */
  get hadFailure(): boolean {
    return this.#failures > 0 || this.#machine.wasFrozen;
  }

  /** Cuts the connection for `ms` milliseconds, either for all messages or only for replies. */
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
