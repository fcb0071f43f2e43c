// Chapter server: how is it reached, and what does it tell by itself?
// One connection at a bearable pace (here); steps over it (steps); what is published is received by notification-listener.

import {
  QueueLockError,
  ConcurrencyLimiter,
  connectionClosed,
  isQueueLockError,
  backoffDelay,
  type Clock,
} from '@queuelock/core/backend';
import type { Address, Driver, Wire } from '../driver/driver.ts';
import { asQueueLockError, isMigrating, movedTo, wordOf } from '../driver/errors.ts';
import { Pace } from './pace.ts';

// Some milliseconds of a server's time: more at once are answered no sooner, and the last of thousands too late.
const AT_ONCE = 64;
/** Between attempts while the cluster migrates the slot of the keys. */
const MIGRATING = { initialDelayMs: 20, maxDelayMs: 250 };

interface Settings {
  readonly clock: Clock;
  /** How long a command may take, connecting included. */
  readonly withinMs: number;
  /** A new connection is there; it is used by others once this has resolved. */
  readonly onUp?: (wire: Wire) => Promise<void>;
  /** It broke; another one is on its way. */
  readonly onDown?: () => void;
  readonly onMessage?: (channel: string, message: string) => void;
}

interface Waiting {
  readonly resolve: (wire: Wire) => void;
  readonly reject: (error: unknown) => void;
}

/** One connection, made on first use, and made anew whenever it breaks until it is closed. */
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

  /** Connects, and stays so. */
  keep(): void {
    if (this.#wire || this.#connecting || this.#isClosed) return;
    this.#connecting = true;
    this.#cancelPause = this.#settings.clock.after(this.#pace.pauseMs, () => {
      this.#cancelPause = undefined;
      void this.#connect();
    });
  }

  /**
   * One command, whose time counts from its turn on. Whatever it rejects with, but what the server itself answered, leaves its outcome
   * unknown. What is urgent overtakes the others.
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

  /** A server that refers to another one, or migrates the keys, has done nothing: the command is sent again as long as its time lasts. */
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

  /** Resolves when there is a connection. @throws {QueueLockError} */
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
    this.#failure = error;
    this.#at = undefined;
    this.#pace.failed();
    this.#settle(({ reject }) => {
      reject(asQueueLockError(error, this.#driver.endpoint));
    });
    this.keep();
  }

  /** Leaves the connection, if there is one, for another. */
  renew(error: unknown): void {
    const wire = this.#wire;
    if (!wire) return;
    this.#lost(wire, error);
    wire.close();
  }

  /** A server that does not answer, or is not the one any more, is left. */
  #judge(wire: Wire, error: unknown): void {
    const moved = movedTo(error);
    if (moved) this.#at = { ...this.#at, ...moved };
    else if (wordOf(error) === 'READONLY') this.#at = undefined;
    else if (!(error instanceof QueueLockError)) return;
    this.#lost(wire, error);
    wire.close();
  }

  #lost(wire: Wire, error: unknown): void {
    if (wire !== this.#wire || this.#isClosed) return;
    this.#wire = undefined;
    this.#failure = error;
    this.#pace.broke();
    this.#settings.onDown?.();
    this.keep();
  }

  #settle(end: (waiting: Waiting) => void): void {
    for (const waiting of [...this.#waiting]) end(waiting);
    this.#waiting.clear();
  }

  /** Rejects with `UNAVAILABLE` after that time. */
  #within<T>(ms: number, answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#settings.clock.after(Math.max(0, ms), () => {
        const before = this.#failure === undefined ? '' : `; before that: ${detail(this.#failure)}`;
        const message = `${this.#driver.endpoint} did not answer within ${this.#settings.withinMs} ms${before}`;
        // After a pause of this process the answer may be there, and is read first.
        setImmediate(() => {
          reject(new QueueLockError('UNAVAILABLE', message));
        });
      });
      answer.then(resolve, reject).finally(cancel);
    });
  }
}

function detail(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
