import { QueueLockError, invalidArgument, sessionLost, type Clock } from '@queuelock/core/backend';
import { UnderWay } from './under-way.ts';

/** Enough for a real timer to be set and to fire between two renewals. */
export const MIN_TTL_MS = 10;

/** The longest time that a timer of the platform takes. */
const MAX_TTL_MS = 2 ** 31 - 1;

/** A session as granted. */
export interface Granted {
  readonly id: string;
  readonly ttlMs: number;
  /** What its clients have sent, whichever of them: a session that was resumed has had several. */
  readonly underWay: UnderWay;
  /** Which of them has it now: the first is 0. */
  readonly tenancy: number;
}

interface Lease extends Granted {
  tenancy: number;
  expiresAt: number;
  cancelTimer: () => void;
}

/** Who is alive. A session ends when it is ended or when its TTL has passed since its last renewal, never before. */
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

  /** It lives for its whole TTL from now on. */
  renew(id: string): Granted {
    const lease = this.#alive(id);
    lease.expiresAt = this.#clock.now() + lease.ttlMs;
    return lease;
  }

  /** The same, for another client: whoever had it before has lost it. */
  resume(id: string): Granted {
    this.#alive(id).tenancy += 1;
    return this.renew(id);
  }

  /** Which client has the session now. */
  tenancyOf(id: string): number {
    return this.#leases.get(id)?.tenancy ?? 0;
  }

  /** @throws {QueueLockError} `SESSION_LOST` when another client has gone on with it */
  requireTenant(id: string, tenancy: number): void {
    const lease = this.#leases.get(id);
    if (lease && lease.tenancy !== tenancy)
      throw new QueueLockError('SESSION_LOST', `session ${id} was resumed by another client`);
  }

  /** @throws {QueueLockError} `SESSION_LOST` */
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
    // A timer that is late must not give a dead session another life.
    if (lease && this.#clock.now() < lease.expiresAt) return lease;
    this.end(id);
    throw sessionLost(id);
  }

  /** One timer a session: a renewal only moves `expiresAt`, and a timer that comes too early is set again. */
  #watch(id: string, lease: Lease): void {
    const leftMs = lease.expiresAt - this.#clock.now();
    if (leftMs <= 0) this.end(id);
    else lease.cancelTimer = this.#clock.after(leftMs, () => this.#watch(id, lease));
  }
}
