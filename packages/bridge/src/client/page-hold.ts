import type { HandoverSnapshot } from '../wire.ts';
import type { ClientClock, PageLock } from './api.ts';
import { callerScope, type CallerScope } from './caller-context.ts';
import { BridgeError } from './bridge-error.ts';

/** The values with which a `PageHold` is created. */
export interface PageHoldSpec extends Pick<PageLock, 'name' | 'id' | 'key' | 'order' | 'token'> {
  readonly clock: ClientClock;
  /** End of the time for which the hold is proven, by the page's clock in milliseconds. */
  readonly deadline: number;
  readonly onLoss: (error: BridgeError) => void;
  readonly release: () => Promise<void>;
  readonly answer: PageLock['answer'];
}

/**
 * A lock that the bridge holds for this page. It counts as held only for as long as the bridge's hold is
 * proven.
 */
export class PageHold implements PageLock {
  readonly name: string;
  readonly id: string;
  readonly key: string;
  readonly order: string;
  readonly token: string;
  readonly answer: PageLock['answer'];
  requests: readonly HandoverSnapshot[] = [];
  readonly #spec: PageHoldSpec;
  readonly #loss = new AbortController();
  /** The asynchronous context in which `signal` was first read. The listeners of the signal run in it. */
  #inScope: CallerScope | undefined;
  #deadline: number;
  #hasEnded = false;
  #cancel: () => void = () => undefined;

  constructor(spec: PageHoldSpec) {
    this.#spec = spec;
    this.#deadline = spec.deadline;
    ({ name: this.name, id: this.id, key: this.key, order: this.order, token: this.token } = spec);
    this.answer = spec.answer;
    this.#watch();
  }

  get held(): boolean {
    return this.remainingMs > 0;
  }

  get remainingMs(): number {
    return this.#hasEnded ? 0 : Math.max(0, this.#deadline - this.#spec.clock.now());
  }

  get signal(): AbortSignal {
    this.#inScope ??= callerScope();
    this.#check();
    return this.#loss.signal;
  }

  /**
   * Extends the proven time of the hold to `deadline`. A hold that has already ended does not begin again.
   */
  prove(deadline: number): void {
    this.#check();
    this.#deadline = Math.max(this.#deadline, deadline);
  }

  release(): Promise<void> {
    this.end();
    return this.#spec.release();
  }

  /** Ends the hold as released. A release is not a loss, so the signal does not abort. */
  end(): void {
    this.#hasEnded = true;
    this.#cancel();
  }

  lose(error: BridgeError): void {
    if (this.#hasEnded) return;
    this.end();
    if (this.#inScope) this.#inScope(() => this.#loss.abort(error));
    else this.#loss.abort(error);
    this.#spec.onLoss(error);
  }

  #check(): void {
    if (this.held || this.#hasEnded) return;
    const message = '[OWNERSHIP_LOST] the bridge did not confirm the hold in time';
    this.lose(new BridgeError({ code: 'OWNERSHIP_LOST', message, retryable: false }));
  }

  #watch(): void {
    if (this.#hasEnded) return;
    const { clock } = this.#spec;
    this.#cancel = clock.after(Math.max(1, this.#deadline - clock.now()), () => {
      this.#check();
      this.#watch();
    });
  }
}
