import { connectionClosed } from '@queuelock/core/backend';
import type { Clock } from '@queuelock/core/backend';
import type { Driver, Wire, WireEvents } from '../driver/driver.ts';
import { asQueueLockError } from '../driver/errors.ts';
import { Pace } from './pace.ts';
import { within } from '../base/within.ts';

interface Settings {
  readonly clock: Clock;
  /** Timeout of one attempt to connect, in milliseconds. */
  readonly withinMs: number;
}

/** Opens the connections of a backend, one after another and at a limited rate. */
export class Opener {
  readonly #driver: Driver;
  readonly #settings: Settings;
  readonly #pace: Pace;
  readonly #closing = new AbortController();
  #last: Promise<unknown> = Promise.resolve();

  constructor(driver: Driver, settings: Settings) {
    this.#driver = driver;
    this.#settings = settings;
    this.#pace = new Pace(settings.clock);
  }

  /**
   * Makes one attempt to connect, after all earlier attempts have ended and after the backoff delay. @throws
   * {QueueLockError} when it fails, or after `close`
   */
  open(events: Omit<WireEvents, 'signal'>): Promise<Wire> {
    const opening = this.#last.then(() => this.#attempt(events));
    this.#last = opening.catch(() => undefined);
    return opening;
  }

  /** Records that a connection broke, which delays the next attempt. */
  broke(): void {
    this.#pace.failed();
  }

  close(): void {
    this.#closing.abort(connectionClosed(this.#driver.endpoint));
  }

  async #attempt(events: Omit<WireEvents, 'signal'>): Promise<Wire> {
    const { clock, withinMs } = this.#settings;
    const { endpoint, isShared } = this.#driver;
    const { pauseMs } = this.#pace;
    // Sets no timer for a delay of 0, because a timer takes at least a millisecond. With a pool of the
    // application, each step takes its connection by this method, and would take a millisecond longer.
    if (pauseMs > 0) await this.#pause(pauseMs);
    this.#closing.signal.throwIfAborted();
    // Taking a connection from a pool does not count as a connection attempt, because the pool mostly has
    // open connections.
    if (!isShared) this.#pace.attempted();
    const giveUp = new AbortController();
    const signal = AbortSignal.any([giveUp.signal, this.#closing.signal]);
    try {
      const reason = (): string | undefined => this.#driver.exhaustion?.();
      const opening = this.#driver.open({ ...events, signal });
      const wire = await within({ clock, ms: withinMs, endpoint, reason }, opening);
      if (this.#closing.signal.aborted) wire.release(false);
      this.#closing.signal.throwIfAborted();
      this.#pace.succeeded();
      return wire;
    } catch (error) {
      giveUp.abort(error);
      this.#closing.signal.throwIfAborted();
      this.#pace.failed();
      throw asQueueLockError(error, { endpoint });
    }
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#closing;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const end = (): void => {
        cancel();
        reject(signal.reason as Error);
      };
      const cancel = this.#settings.clock.after(ms, () => {
        signal.removeEventListener('abort', end);
        resolve();
      });
      signal.addEventListener('abort', end, { once: true });
    });
  }
}
