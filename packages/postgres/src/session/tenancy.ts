/** What identifies a client's tenancy of a session. Resuming a session starts a new generation, which ends all earlier tenancies. */
export interface Tenancy {
  readonly id: string;
  readonly num: number;
  readonly generation: number;
  readonly ttlMs: number;
  /** Entries up to this number belong to earlier tenancies of the session; 0 when this client opened it. */
  readonly inherited: number;
}
