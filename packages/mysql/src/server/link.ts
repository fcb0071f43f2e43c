// Folder "server": opens connections to the server, shares them, and runs steps over them.
// link.ts (this file) opens connections at a limited rate. opening.ts creates the tables. steps.ts runs steps.

import {
  QueueLockError,
  ConcurrencyLimiter,
  connectionClosed,
  isQueueLockError,
  type Clock,
} from '@queuelock/core/backend';
import type { Driver, Wire } from '../driver/driver.ts';
import { asQueueLockError, describe, isReadOnly, numberOf } from '../driver/errors.ts';
import { Pace } from './pace.ts';

/** Number of connections of the application's pool that the backend keeps, even unused, for steps and heartbeats. */
const KEPT = 2;

interface Settings {
  readonly clock: Clock;
  /** Timeout of a step, connecting included, in milliseconds. */
  readonly withinMs: number;
  /** Maximum number of concurrent steps, each on its own connection. */
  readonly connections: number;
  /** Called when a connection to the server broke. */
  readonly onDown: () => void;
}

/** A step that runs on a connection. `leftMs` returns the milliseconds until the timeout of the step. */
type Work<T> = (wire: Wire, leftMs: () => number) => Promise<T>;

interface Way {
  /** Whether the step starts at once, even if the maximum number of steps is running. */
  readonly isUrgent?: boolean;
  /** Timeout of this step in milliseconds, if it differs from the default timeout of steps. */
  readonly withinMs?: number;
  /** Timeout, in milliseconds, of each statement of a step that consists of several statements. */
  readonly statementMs?: number;
}

interface Waiting {
  readonly isUrgent: boolean;
  readonly resolve: (wire: Wire) => void;
  readonly reject: (error: unknown) => void;
}

/** The connections of a backend to its server. They are opened on demand, one after another, until the link is closed. */
export class Link {
  readonly #driver: Driver;
  readonly #settings: Settings;
  readonly #pace: Pace;
  readonly #limiter: ConcurrencyLimiter;
  readonly #wires = new Set<Wire>();
  readonly #idle: Wire[] = [];
  readonly #waiting = new Set<Waiting>();
  #isOpening = false;
  #cancelPause: (() => void) | undefined;
  #givenUp: AbortController | undefined;
  #failure: unknown;
  #isClosed = false;

  constructor(driver: Driver, settings: Settings) {
    this.#driver = driver;
    this.#settings = settings;
    this.#pace = new Pace(settings.clock, driver.leastBetweenMs);
    this.#limiter = new ConcurrencyLimiter(settings.connections);
  }

  get clock(): Clock {
    return this.#settings.clock;
  }

  get endpoint(): string {
    return this.#driver.endpoint;
  }

  /**
   * Runs a step (`work`) with exclusive use of a connection. The timeout starts when the step no longer waits for other steps. If the step rejects
   * with anything but an error that the server reports, its outcome is unknown.
   */
  async take<T>(work: Work<T>, way: Way = {}): Promise<T> {
    if (way.isUrgent) return this.#takeNow(work, way);
    await this.#limiter.acquire();
    try {
      return await this.#takeNow(work, way);
    } catch (error) {
      if (isQueueLockError(error, 'UNAVAILABLE')) this.#limiter.rejectWaiting(error);
      throw error;
    } finally {
      this.#limiter.release();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPause?.();
    this.#givenUp?.abort();
    for (const wire of this.#wires) {
      if (wire.release && this.#idle.includes(wire)) wire.release();
      else wire.destroy();
    }
    this.#wires.clear();
    this.#idle.length = 0;
    this.#limiter.rejectWaiting(connectionClosed(this.endpoint));
    this.#refuse(connectionClosed(this.endpoint));
  }

  async #takeNow<T>(
    work: Work<T>,
    { isUrgent = false, withinMs = this.#settings.withinMs, statementMs }: Way,
  ): Promise<T> {
    const { clock } = this.#settings;
    const begunAt = clock.now();
    const leftMs = (): number => withinMs - (clock.now() - begunAt);
    const wire = await this.#connected(isUrgent);
    const limited =
      statementMs === undefined
        ? wire
        : { ...wire, query: (sql: string) => this.#within(statementMs, wire.query(sql)) };
    try {
      const response = await this.#within(leftMs(), work(limited, leftMs));
      this.#giveBack(wire);
      return response;
    } catch (error) {
      // After an error that the server reports, the connection can still be used. After any other failure, it is closed.
      if ((numberOf(error) === undefined && !isResponse(error)) || isReadOnly(error)) this.#lose(wire, error);
      else this.#giveBack(wire);
      if (this.#isClosed) throw connectionClosed(this.endpoint);
      throw asQueueLockError(error, this.endpoint);
    }
  }

  async #connected(isUrgent: boolean): Promise<Wire> {
    if (this.#isClosed) throw connectionClosed(this.endpoint);
    const idle = this.#idle.pop();
    if (idle) return idle;
    let waiting: Waiting | undefined;
    const wire = new Promise<Wire>((resolve, reject) => {
      this.#waiting.add((waiting = { isUrgent, resolve, reject }));
    });
    this.#open();
    try {
      return await this.#within(this.#settings.withinMs, wire);
    } finally {
      if (waiting) this.#waiting.delete(waiting);
    }
  }

  #open(): void {
    if (this.#isOpening || this.#isClosed || this.#waiting.size === 0) return;
    this.#isOpening = true;
    const { pauseMs } = this.#pace;
    if (pauseMs === 0) void this.#attempt();
    else this.#cancelPause = this.#settings.clock.after(pauseMs, () => void this.#attempt());
  }

  async #attempt(): Promise<void> {
    this.#cancelPause = undefined;
    const givenUp = (this.#givenUp = new AbortController());
    this.#pace.attempted();
    const ended: { readonly error: unknown }[] = [];
    const made: Wire[] = [];
    const onEnd = (error: unknown): void => {
      ended.push({ error });
      for (const wire of made) this.#lose(wire, error);
    };
    try {
      const opening = this.#driver.open({ onEnd, signal: givenUp.signal });
      const wire = await this.#within(this.#settings.withinMs, opening);
      for (const { error } of ended) throw error;
      made.push(wire);
      this.#pace.succeeded();
      this.#failure = undefined;
      if (this.#isClosed) wire.destroy();
      else {
        this.#wires.add(wire);
        this.#hand(wire);
      }
    } catch (error) {
      givenUp.abort();
      this.#record(error);
      this.#pace.failed();
      // A running step passes its connection on to a waiting step. If no connection is open, all waiting steps are rejected.
      if (this.#wires.size === 0) this.#refuse(asQueueLockError(error, this.endpoint));
    }
    this.#isOpening = false;
    this.#open();
  }

  #giveBack(wire: Wire): void {
    if (this.#wires.has(wire)) this.#hand(wire);
  }

  /** Passes a free connection to a waiting step, heartbeats first. If no step waits, the connection is kept or returned to its pool. */
  #hand(wire: Wire): void {
    const waiting = [...this.#waiting].find(({ isUrgent }) => isUrgent) ?? [...this.#waiting][0];
    if (waiting) {
      this.#waiting.delete(waiting);
      waiting.resolve(wire);
    } else if (wire.release && this.#idle.length >= KEPT) {
      // Returns all but two connections to the pool of the application. Two are kept, because a step could
      // otherwise wait for a connection while all work of the application waits for a lock.
      this.#wires.delete(wire);
      wire.release();
    } else this.#idle.push(wire);
  }

  #lose(wire: Wire, error: unknown): void {
    if (!this.#wires.delete(wire)) return;
    const place = this.#idle.indexOf(wire);
    if (place !== -1) this.#idle.splice(place, 1);
    wire.destroy();
    this.#record(error);
    this.#pace.broke();
    this.#settings.onDown();
  }

  /** Records why a connection failed, for the message of a later timeout. Ignores each error that is a `QueueLockError`. */
  #record(error: unknown): void {
    if (!isQueueLockError(error)) this.#failure = error;
  }

  #refuse(error: unknown): void {
    for (const { reject } of [...this.#waiting]) reject(error);
    this.#waiting.clear();
  }

  /** Settles as the promise `response` does. Rejects with `UNAVAILABLE` if `response` is still pending after `ms` milliseconds. */
  #within<T>(ms: number, response: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#settings.clock.after(Math.max(0, ms), () => {
        const exhaustion = this.#wires.size === 0 ? this.#driver.exhaustion?.() : undefined;
        const before = this.#failure === undefined ? '' : `; before that: ${describe(this.#failure)}`;
        const late = exhaustion === undefined ? 'did not respond' : 'gave no connection';
        const why = exhaustion === undefined ? before : `: ${exhaustion}`;
        const message = `${this.endpoint} ${late} within ${Math.round(Math.max(ms, 0))} ms${why}`;
        // If this process was paused, this timer may run before the process has read a reply that has
        // arrived. Node reads the reply before it runs `setImmediate` callbacks.
        setImmediate(() => {
          reject(new QueueLockError('UNAVAILABLE', message));
        });
      });
      response.then(resolve, reject).finally(cancel);
    });
  }
}

/** Returns whether an error shows that the server has replied: it is a `QueueLockError` with a code other than `UNAVAILABLE`. */
function isResponse(error: unknown): boolean {
  return isQueueLockError(error) && error.code !== 'UNAVAILABLE';
}
