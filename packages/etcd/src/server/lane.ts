import { isDefinite } from '@queuelock/core/backend';
import { afterPatience } from '../base/patience.ts';

/** How a request is treated. */
export interface LaneOptions {
  /** It waits for no other. */
  readonly urgent: boolean;
  /** How long it waits while nothing moves, in milliseconds. */
  readonly patienceMs: number;
  /** What it rejects with after that; it was never sent then. */
  readonly late: () => Error;
}

// Enough to keep a far server busy. A time limit counts from the sending on: thousands at once would all pass theirs while they
// are written and read, and every one would fail where each second of them could have succeeded.
const MAX_AT_ONCE = 64;

/** Requests in their order, 64 at once. Those that wait are patient as long as the line moves. */
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

  /** Resolves with the place of one that has come back. */
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
