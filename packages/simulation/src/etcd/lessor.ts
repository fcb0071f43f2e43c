import type { Machine } from '../timeline.ts';
import type { Lease } from './store.ts';

/**
 * Result of a keepalive: the remaining seconds of the lease. 0 means that the lease is unknown. `expired`
 * means that the lease has ended, but the server has not deleted its keys yet.
 */
export type Renewal = number | 'expired';

/** The remaining times of all leases, by the clock of the leader. */
export class Lessor {
  readonly #machine: Machine;
  readonly #ends = new Map<string, { readonly lease: Lease; at: number }>();

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Starts the TTL of every lease anew when a member becomes leader. Adds `extraMs` for the time without a leader. */
  begin(leases: Iterable<Lease>, extraMs: number): void {
    this.#ends.clear();
    for (const lease of leases) this.granted(lease, extraMs);
  }

  end(): void {
    this.#ends.clear();
  }

  granted(lease: Lease, extraMs = 0): void {
    this.#ends.set(lease.id, { lease, at: this.#machine.now() + lease.ttl * 1_000 + extraMs });
  }

  revoked(id: string): void {
    this.#ends.delete(id);
  }

  renew(id: string): Renewal {
    const end = this.#ends.get(id);
    if (!end) return 0;
    if (this.#leftMs(end.at) <= 0) return 'expired';
    end.at = this.#machine.now() + end.lease.ttl * 1_000;
    return end.lease.ttl;
  }

  /** Returns the remaining time of a lease in whole seconds. */
  remaining(id: string): number {
    const end = this.#ends.get(id);
    return end ? Math.trunc(this.#leftMs(end.at) / 1_000) : -1;
  }

  /** Ids of the leases that have expired by the clock of the leader. */
  get expired(): readonly string[] {
    return [...this.#ends].filter(([, { at }]) => this.#leftMs(at) <= 0).map(([id]) => id);
  }

  #leftMs(at: number): number {
    return at - this.#machine.now();
  }
}
