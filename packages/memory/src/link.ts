import { connectionClosed, invalidArgument, type Clock } from '@queuelock/core/backend';
import { Observable, Subscription } from './rx.ts';

/** The calls of `Backend` and `Session` that are sent to the server. */
export type MemoryCall =
  | 'open'
  | 'resume'
  | 'renew'
  | 'enqueue'
  | 'enqueueAll'
  | 'tryEnqueue'
  | 'update'
  | 'share'
  | 'remove'
  | 'removeUnclaimed'
  | 'leaveTrace'
  | 'eraseTraces'
  | 'close'
  | 'evict'
  | 'readRegister'
  | 'writeRegister'
  | 'history'
  | 'diagnose';

/**
 * Intercepts every call between a client and the server, to simulate network failures. `proceed` sends the
 * request, which takes effect on the server, and returns a promise of the reply. Calling `proceed` again
 * sends nothing and returns the same promise.
 *
 * - Wait before `proceed()`: a slow request. Wait after it: a slow answer.
 * - Reject without `proceed()`: a lost request. Reject after it: a lost answer. Use `UNAVAILABLE`.
 * - Reject first and call `proceed()` later: a request that arrives after its caller gave up.
 *
 * The returned promise should settle, because a real backend bounds every attempt.
 */
export type Intercept = <T>(call: MemoryCall, proceed: () => Promise<T>) => Promise<T>;

/** Behaviour of the simulated network between one client and the server. */
export interface LinkOptions {
  /**
   * Time from a request to its reply, in milliseconds of the server's clock: half of it in each direction. An
   * event takes half of it. Default 0: everything happens at once.
   */
  readonly latencyMs?: number;
  /** Intercepts each call of the client to the server. Default: calls `proceed()`. */
  readonly intercept?: Intercept;
  /**
   * Called for every event (a turn, or a change of an observed queue or register) with a function that delivers the event. The callback must call
   * that function once, immediately or later. Events of one subscription arrive in their order, whatever the order of the calls. Default: delivers
   * after half the latency.
   */
  readonly deliver?: (arrive: () => void) => void;
}

/** The simulated network between one client and the server. Without options everything happens synchronously within the call. */
export class Link {
  readonly #clock: Clock;
  readonly #halfMs: number;
  readonly #intercept: Intercept | undefined;
  readonly #deliver: ((arrive: () => void) => void) | undefined;
  readonly #watches = new Subscription();

  constructor(clock: Clock, { latencyMs = 0, intercept, deliver }: LinkOptions) {
    if (!(latencyMs >= 0 && Number.isFinite(latencyMs))) {
      throw invalidArgument('latencyMs', latencyMs, 'is a number of milliseconds from 0 up');
    }
    this.#clock = clock;
    this.#halfMs = latencyMs / 2;
    this.#intercept = intercept;
    this.#deliver = deliver ?? (latencyMs === 0 ? undefined : (arrive) => clock.after(this.#halfMs, arrive));
  }

  get closed(): boolean {
    return this.#watches.closed;
  }

  /** Sends a call to the server. Rejects with the signal's reason as soon as the signal aborts; whether the call takes effect is then unknown. */
  async call<T>(call: MemoryCall, effect: () => T, signal?: AbortSignal): Promise<T> {
    if (this.closed) throw connectionClosed('the memory server');
    signal?.throwIfAborted();
    if (!this.#intercept) return this.#halfMs === 0 ? effect() : unlessAborted(this.#travel(effect), signal);
    let response: Promise<T> | undefined;
    const proceed = (): Promise<T> => (response ??= withoutAlarm(this.#travel(effect)));
    return unlessAborted(this.#intercept(call, proceed), signal);
  }

  /**
   * Delivers the values of a server's stream to a client over this simulated connection. Emits nothing once
   * the connection is closed. A later subscription errors.
   */
  carry<T>(source$: Observable<T>): Observable<T> {
    return new Observable((subscriber) => {
      if (this.closed) {
        subscriber.error(connectionClosed('the memory server'));
        return;
      }
      const deliver = this.#deliver;
      if (!deliver) {
        this.#watches.add(subscriber);
        source$.subscribe(subscriber);
        return;
      }
      const underWay: (() => void)[] = [];
      const send = (event: () => void): void => {
        underWay.push(event);
        deliver(() => underWay.shift()?.());
      };
      const watch = new Subscription(() => (underWay.length = 0));
      subscriber.add(watch);
      this.#watches.add(watch);
      watch.add(
        source$.subscribe({
          next: (value) => send(() => subscriber.next(value)),
          error: (error: unknown) => send(() => subscriber.error(error)),
        }),
      );
    });
  }

  /**
   * Ends all subscriptions of the client to the server's streams. Calls in flight still get their replies.
   */
  close(): void {
    this.#watches.unsubscribe();
  }

  async #travel<T>(effect: () => T): Promise<T> {
    if (this.#halfMs === 0) return effect();
    await this.#half();
    try {
      return effect();
    } finally {
      await this.#half();
    }
  }

  #half(): Promise<void> {
    return new Promise((resolve) => this.#clock.after(this.#halfMs, resolve));
  }
}

/** Marks a rejection as handled, because an interceptor may never await the reply of the server. */
function withoutAlarm<T>(response: Promise<T>): Promise<T> {
  response.catch(() => undefined);
  return response;
}

function unlessAborted<T>(response: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return response;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    response.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
