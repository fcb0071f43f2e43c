import { isDefinite } from '@queuelock/core/backend';
import { startTimeout } from '../base/timeout.ts';

/** How the limit of requests in flight treats one request: whether it waits, for how long, and with which error it fails. */
export interface RequestLimitOptions {
  /** Whether the request is sent at once, even above the limit of requests in flight. */
  readonly urgent: boolean;
  /** Timeout in milliseconds while the request waits to be sent. A response to another request restarts it. */
  readonly waitTimeoutMs: number;
  /** Creates the error for a request that was not sent before the timeout. */
  readonly timeoutError: () => Error;
}

// Maximum number of requests in flight, enough to keep a distant server busy. The timeout of a request starts
// when it is sent. Without a limit, writing thousands of requests would take so long that all of them time
// out.
const MAX_IN_FLIGHT = 64;

/**
 * Limits how many requests are in flight, and sends waiting requests in the order of the calls. A waiting request times out only
 * while no responses arrive.
 */
export class RequestLimiter {
  readonly #waiting = new Set<() => void>();
  #inFlight = 0;
  #responses = 0;

  async send<T>(request: () => Promise<T>, options: RequestLimitOptions): Promise<T> {
    if (options.urgent) return request();
    if (this.#inFlight >= MAX_IN_FLIGHT) await this.#waitForSlot(options);
    else this.#inFlight += 1;
    try {
      const response = await request();
      this.#responses += 1;
      return response;
    } catch (error) {
      if (isDefinite(error)) this.#responses += 1;
      throw error;
    } finally {
      this.#releaseSlot();
    }
  }

  /** Resolves when another request has ended, so that the waiting request may be sent in its place. */
  #waitForSlot({ waitTimeoutMs, timeoutError }: RequestLimitOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      let responses = this.#responses;
      const check = (): void => {
        if (this.#responses > responses) {
          responses = this.#responses;
          cancel = startTimeout(waitTimeoutMs, check);
        } else if (this.#waiting.delete(start)) reject(timeoutError());
      };
      const start = (): void => {
        cancel();
        resolve();
      };
      let cancel = startTimeout(waitTimeoutMs, check);
      this.#waiting.add(start);
    });
  }

  #releaseSlot(): void {
    const [next] = this.#waiting;
    if (!next) this.#inFlight -= 1;
    else if (this.#waiting.delete(next)) next();
  }
}
