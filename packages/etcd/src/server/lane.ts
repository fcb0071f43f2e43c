import { isDefinite } from '@queuelock/core/backend';
import { afterPatience } from '../base/patience.ts';

/** How a request is sent. */
export interface LaneOptions {
  /** Whether the request is sent at once, in spite of the limit. */
  readonly urgent: boolean;
  /** Timeout in milliseconds for a request that waits while no response arrives. */
  readonly patienceMs: number;
  /** Returns the error of a request that was not sent before the timeout. */
  readonly late: () => Error;
}

// Enough to keep a distant server busy. Timeouts count from the sending on. Without a limit, thousands of requests would be written and read
// for so long that all of them reach their timeouts.
const MAX_AT_ONCE = 64;

/** Limits how many requests are in flight, in the order of the calls. A waiting request times out only while no response arrives. */
export class Lane {
  readonly #waiting = new Set<() => void>();
  #underWay = 0;
  #answers = 0;

  async send<T>(request: () => Promise<T>, options: LaneOptions): Promise<T> {
    if (options.urgent) return request();
    if (this.#underWay >= MAX_AT_ONCE) await this.#turn(options);
    else this.#underWay += 1;
    try {
      const answer = await request();
      this.#answers += 1;
      return answer;
    } catch (error) {
      if (isDefinite(error)) this.#answers += 1;
      throw error;
    } finally {
      this.#passOn();
    }
  }

  /** Resolves when a request has ended and this one may be sent. */
  #turn({ patienceMs, late }: LaneOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      let answers = this.#answers;
      const look = (): void => {
        if (this.#answers > answers) {
          answers = this.#answers;
          cancel = afterPatience(patienceMs, look);
        } else if (this.#waiting.delete(go)) reject(late());
      };
      const go = (): void => {
        cancel();
        resolve();
      };
      let cancel = afterPatience(patienceMs, look);
      this.#waiting.add(go);
    });
  }

  #passOn(): void {
    const [next] = this.#waiting;
    if (!next) this.#underWay -= 1;
    else if (this.#waiting.delete(next)) next();
  }
}
