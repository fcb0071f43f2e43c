import { QueueLockError, invalidArgument, sessionLost, type Clock } from '@queuelock/core/backend';
import { UnderWay } from './under-way.ts';

/** Minimum TTL in milliseconds: long enough that a real timer can be set and fire between two heartbeats. */
export const MIN_TTL_MS = 10;

/** Longest delay that `setTimeout` accepts, in milliseconds. */
const MAX_TTL_MS = 2 ** 31 - 1;

/** The data of an open session that the server returns to the session's client. */
export interface Granted {
  readonly id: string;
  readonly ttlMs: number;
  /**
   * Enqueue requests that are in flight, of all clients of the session. A resumed session has had several
   * clients.
   */
  readonly underWay: UnderWay;
  /** Number of the client that owns the session. The client that opened it has 0, and each resumption adds 1. */
  readonly tenancy: number;
}

interface Lease extends Granted {
  tenancy: number;
  expiresAt: number;
  cancelTimer: () => void;
}

/** The sessions that are alive. A session ends when it is closed, or when its TTL has passed since its last heartbeat, never before. */
export class Sessions {
  readonly #clock: Clock;
  readonly #onEnd: (id: string) => void;
  readonly #leases = new Map<string, Lease>();

  constructor(clock: Clock, onEnd: (id: string) => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  get ids(): readonly string[] {
    return [...this.#leases.keys()];
  }

  open(id: string, ttlMs: number): Granted {
    if (!(ttlMs >= MIN_TTL_MS && ttlMs <= MAX_TTL_MS)) {
      throw invalidArgument(
        'ttlMs',
        ttlMs,
        `is a number of milliseconds from ${MIN_TTL_MS} to ${MAX_TTL_MS}`,
      );
    }
    const expiresAt = this.#clock.now() + ttlMs;
    const lease = {
      id,
      ttlMs,
      underWay: new UnderWay(),
      tenancy: 0,
      expiresAt,
      cancelTimer: () => undefined,
    };
    this.#leases.set(id, lease);
    this.#watch(id, lease);
    return lease;
  }

  renew(id: string): Granted {
    const lease = this.#alive(id);
    lease.expiresAt = this.#clock.now() + lease.ttlMs;
    return lease;
  }

  /** Extends the session for a new client, which takes it over from the previous one. */
  resume(id: string): Granted {
    this.#alive(id).tenancy += 1;
    return this.renew(id);
  }

  /**
   * Returns the number of the client that owns the session now. It is 0 for the first client, and grows by 1
   * with each resumption.
   */
  tenancyOf(id: string): number {
    return this.#leases.get(id)?.tenancy ?? 0;
  }

  /**
   * Checks that the client still owns the session.
   * @throws {QueueLockError} `SESSION_LOST` when another client has resumed it
   */
  requireTenant(id: string, tenancy: number): void {
    const lease = this.#leases.get(id);
    if (lease && lease.tenancy !== tenancy)
      throw new QueueLockError('SESSION_LOST', `session ${id} was resumed by another client`);
  }

  /**
   * Checks that the session is alive.
   * @throws {QueueLockError} `SESSION_LOST` when the session has ended
   */
  requireAlive(id: string): void {
    this.#alive(id);
  }

  end(id: string): boolean {
    const lease = this.#leases.get(id);
    if (!lease) return false;
    lease.cancelTimer();
    this.#leases.delete(id);
    this.#onEnd(id);
    return true;
  }

  #alive(id: string): Lease {
    const lease = this.#leases.get(id);
    // Ends the session if its TTL is over: a timer that fires late must not extend the session's life.
    if (lease && this.#clock.now() < lease.expiresAt) return lease;
    this.end(id);
    throw sessionLost(id);
  }

  /**
   * Sets the timer that ends a session at `expiresAt`. A heartbeat changes only `expiresAt`. If the timer fires before `expiresAt`, it is set again.
   */
  #watch(id: string, lease: Lease): void {
    const leftMs = lease.expiresAt - this.#clock.now();
    if (leftMs <= 0) this.end(id);
    else lease.cancelTimer = this.#clock.after(leftMs, () => this.#watch(id, lease));
  }
}
