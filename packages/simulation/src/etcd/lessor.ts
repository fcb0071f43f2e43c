import type { Machine } from '../timeline.ts';
import type { Lease } from './store.ts';

/** What a keepalive comes to: what is left in seconds, 0 for a lease that is not known, or that it is over and not removed yet. */
export type Renewal = number | 'expired';

/** The times of the leases, as the member that leads counts them on its own clock. */
export class Lessor {
  readonly #machine: Machine;
  readonly #ends = new Map<string, { readonly lease: Lease; at: number }>();

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** All begin anew when somebody else leads, and the time in which nobody led comes on top. */
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

  /** Whole seconds that are left. */
  remaining(id: string): number {
    const end = this.#ends.get(id);
    return end ? Math.trunc(this.#leftMs(end.at) / 1_000) : -1;
  }

  /** Those that are over. */
  get expired(): readonly string[] {
    return [...this.#ends].filter(([, { at }]) => this.#leftMs(at) <= 0).map(([id]) => id);
  }

  #leftMs(at: number): number {
    return at - this.#machine.now();
  }
}
