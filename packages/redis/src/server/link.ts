// Folder "server": opens connections to the server, runs steps over them, and receives notifications.
// link.ts (this file) reopens a connection at a limited rate. steps.ts runs steps. notification-listener.ts receives notifications.

import {
  QueueLockError,
  ConcurrencyLimiter,
  connectionClosed,
  isQueueLockError,
  backoffDelay,
  type Clock,
} from '@queuelock/core/backend';
import type { Address, Driver, Wire } from '../driver/driver.ts';
import { asQueueLockError, describe, isMigrating, movedTo, wordOf } from '../driver/errors.ts';
import { Pace } from './pace.ts';

// Maximum number of commands in flight on one connection. The server needs some milliseconds for 64 commands.
// With more, no reply is faster; with thousands, the commands that were sent last would time out.
const AT_ONCE = 64;
/** Backoff between attempts while the cluster migrates the hash slot of the keys. */
const MIGRATING = { initialDelayMs: 20, maxDelayMs: 250 };

interface Settings {
  readonly clock: Clock;
  /** Timeout of a command, connecting included, in milliseconds. */
  readonly withinMs: number;
  /**
   * Called with each new connection, before commands use it. Commands wait until the callback has resolved.
   */
  readonly onUp?: (wire: Wire) => Promise<void>;
  /** Called when the connection has broken. The `Link` then opens another connection by itself. */
  readonly onDown?: () => void;
  readonly onMessage?: (channel: string, message: string) => void;
}

interface Waiting {
  readonly resolve: (wire: Wire) => void;
  readonly reject: (error: unknown) => void;
}

/** One connection, opened on first use and reopened whenever it breaks, until the link is closed. */
export class Link {
  readonly #driver: Driver;
  readonly #settings: Settings;
  readonly #pace: Pace;
  readonly #waiting = new Set<Waiting>();
  readonly #limiter = new ConcurrencyLimiter(AT_ONCE);
  #wire: Wire | undefined;
  #connecting = false;
  #cancelPause: (() => void) | undefined;
  #failure: unknown;
  #at: Partial<Address> | undefined;
  #givenUp: AbortController | undefined;
  #isClosed = false;

  constructor(driver: Driver, settings: Settings) {
    this.#driver = driver;
    this.#settings = settings;
    this.#pace = new Pace(settings.clock);
  }

  /** Connects, unless the link is connected, connecting or closed. From then on, a broken connection is replaced. */
  keep(): void {
    if (this.#wire || this.#connecting || this.#isClosed) return;
    this.#connecting = true;
    this.#cancelPause = this.#settings.clock.after(this.#pace.pauseMs, () => {
      this.#cancelPause = undefined;
      void this.#connect();
    });
  }

  /**
   * Sends one command. The timeout does not include the time for which the command waits before it is sent. If the promise rejects with
   * anything but an error reply of the server, the outcome is unknown.
   * @param isUrgent sends the command at once, regardless of the limit of commands in flight
   */
  async send(args: readonly string[], isUrgent = false): Promise<unknown> {
    if (isUrgent) return this.#sendNow(args);
    await this.#limiter.acquire();
    try {
      return await this.#sendNow(args);
    } catch (error) {
      if (isQueueLockError(error)) this.#limiter.rejectWaiting(error);
      throw error;
    } finally {
      this.#limiter.release();
    }
  }

  /**
   * Sends a command. Until the timeout, repeats it if the server redirects the client to another server, or refuses the command while keys
   * migrate. A refused command was not executed.
   */
  async #sendNow(args: readonly string[]): Promise<unknown> {
    const { clock, withinMs } = this.#settings;
    const begunAt = clock.now();
    for (let attempt = 0; ; attempt += 1) {
      const leftMs = (): number => withinMs - (clock.now() - begunAt);
      const wire = this.#wire ?? (await this.connected());
      try {
        return await this.#within(leftMs(), wire.send(args));
      } catch (error) {
        this.#judge(wire, error);
        const pauseMs = isMigrating(error) ? backoffDelay(attempt, MIGRATING, clock) : 0;
        if ((pauseMs === 0 && !movedTo(error)) || pauseMs >= leftMs()) throw error;
        await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
      }
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPause?.();
    const wire = this.#wire;
    this.#wire = undefined;
    wire?.close();
    this.#givenUp?.abort();
    this.#limiter.rejectWaiting(connectionClosed(this.#driver.endpoint));
    this.#settle(({ reject }) => {
      reject(connectionClosed(this.#driver.endpoint));
    });
  }

  /**
   * Resolves with the connection once it is open.
   * @throws {QueueLockError} when the link is closed or cannot connect in time
   */
  async connected(): Promise<Wire> {
    if (this.#wire) return this.#wire;
    if (this.#isClosed) throw connectionClosed(this.#driver.endpoint);
    let waiting: Waiting | undefined;
    const wire = new Promise<Wire>((resolve, reject) => {
      this.#waiting.add((waiting = { resolve, reject }));
    });
    this.keep();
    try {
      return await this.#within(this.#settings.withinMs, wire);
    } finally {
      if (waiting) this.#waiting.delete(waiting);
    }
  }

  async #connect(): Promise<void> {
    let wire: Wire | undefined;
    let over: { readonly error: unknown } | undefined;
    const lose = (error: unknown): void => {
      over = { error };
      if (wire) this.#lost(wire, error);
    };
    const givenUp = (this.#givenUp = new AbortController());
    this.#pace.attempted();
    try {
      const opened = await this.#within(this.#settings.withinMs, this.#open(lose, givenUp.signal));
      if (this.#isClosed) {
        opened.close();
        return;
      }
      if (over) throw over.error;
      wire = this.#wire = opened;
      this.#failure = undefined;
      this.#connecting = false;
      this.#settle(({ resolve }) => {
        resolve(opened);
      });
    } catch (error) {
      givenUp.abort();
      this.#failed(error);
    }
  }

  async #open(onEnd: (error: unknown) => void, signal: AbortSignal): Promise<Wire> {
    const { onUp, onMessage } = this.#settings;
    const wire = await this.#driver.open(
      { onMessage: onMessage ?? (() => undefined), onEnd, signal },
      this.#at,
    );
    await onUp?.(wire);
    return wire;
  }

  #failed(error: unknown): void {
    this.#connecting = false;
    if (this.#isClosed) return;
    this.#record(error);
    this.#at = undefined;
    this.#pace.failed();
    this.#settle(({ reject }) => {
      reject(asQueueLockError(error, this.#driver.endpoint));
    });
    this.keep();
  }

  /** Replaces the open connection, if there is one, because of `error`. */
  renew(error: unknown): void {
    const wire = this.#wire;
    if (!wire) return;
    this.#lost(wire, error);
    wire.close();
  }

  /** Drops the connection if its server did not respond, is a replica, or redirected the command. Then connects to the server of a redirect. */
  #judge(wire: Wire, error: unknown): void {
    const moved = movedTo(error);
    if (moved) this.#at = { ...this.#at, ...moved };
    else if (wordOf(error) === 'READONLY') this.#at = undefined;
    else if (!isQueueLockError(error)) return;
    this.#lost(wire, error);
    wire.close();
  }

  #lost(wire: Wire, error: unknown): void {
    if (wire !== this.#wire || this.#isClosed) return;
    this.#wire = undefined;
    this.#record(error);
    this.#pace.broke();
    this.#settings.onDown?.();
    this.keep();
  }

  /**
   * Records why a connection failed, for the message of a later timeout of a command. Does not record
   * timeouts, which would add nothing to that message.
   */
  #record(error: unknown): void {
    if (!isQueueLockError(error)) this.#failure = error;
  }

  #settle(end: (waiting: Waiting) => void): void {
    for (const waiting of [...this.#waiting]) end(waiting);
    this.#waiting.clear();
  }

  /**
   * Settles as the promise `response` does. Rejects with `UNAVAILABLE` if `response` is still pending after
   * `ms` milliseconds.
   */
  #within<T>(ms: number, response: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#settings.clock.after(Math.max(0, ms), () => {
        const before = this.#failure === undefined ? '' : `; before that: ${describe(this.#failure)}`;
        const message = `${this.#driver.endpoint} did not respond within ${this.#settings.withinMs} ms${before}`;
        // After a pause of this process, the timer may fire before a reply that has already arrived is read.
        // So the reply is read before the timeout rejects.
        setImmediate(() => {
          reject(new QueueLockError('UNAVAILABLE', message));
        });
      });
      response.then(resolve, reject).finally(cancel);
    });
  }
}
