import { Subject, type Observable } from '../rx.ts';
import type { BridgeClientOptions, BridgeHeaders, ClientClock } from './api.ts';
import { unavailable, type BridgeError } from './bridge-error.ts';
import { boundToCaller } from './caller-context.ts';

type Read = () => BridgeHeaders | PromiseLike<BridgeHeaders>;

const WITHIN_MS = 2_000;

/**
 * Provides the headers of each request. The option `headers` contains them, or is a function that returns
 * them. While that function fails, the headers that it returned last are used.
 */
export class FreshHeaders {
  readonly #clock: ClientClock;
  readonly #read: Read | undefined;
  readonly #errors$ = new Subject<BridgeError>();
  #latest: BridgeHeaders | undefined;

  constructor(clock: ClientClock, headers: BridgeClientOptions['headers'] = {}) {
    this.#clock = clock;
    if (typeof headers === 'function') this.#read = boundToCaller(headers);
    else this.#latest = headers;
  }

  /** Emits the error when the function in the option `headers` fails and earlier headers are used instead. */
  get errors$(): Observable<BridgeError> {
    return this.#errors$;
  }

  /**
   * Returns the headers for the next request. Fixed headers are returned without a promise, because the last
   * request of a page that closes cannot wait. Rejects if the function in the option `headers` fails and has
   * never succeeded.
   */
  next(): BridgeHeaders | Promise<BridgeHeaders> {
    return this.#read ? this.#readOrLatest(this.#read) : (this.#latest ?? {});
  }

  close(): void {
    this.#errors$.complete();
  }

  async #readOrLatest(read: Read): Promise<BridgeHeaders> {
    try {
      return (this.#latest = await this.#inTime(read));
    } catch (cause) {
      const error = unavailable('the headers of a request could not be obtained', cause);
      if (!this.#latest) throw error;
      this.#errors$.next(error);
      return this.#latest;
    }
  }

  #inTime(read: Read): Promise<BridgeHeaders> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(WITHIN_MS, () => {
        reject(new Error(`no result within ${WITHIN_MS} ms`));
      });
      Promise.resolve().then(read).then(resolve, reject).finally(cancel);
    });
  }
}
