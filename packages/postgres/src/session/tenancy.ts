/** Identifies the use of a session by one client. A client that resumes it starts a new generation, and the store refuses earlier ones. */
export interface Tenancy {
  readonly id: string;
  readonly num: number;
  readonly generation: number;
  readonly ttlMs: number;
  /** Entries with numbers up to this one were added by earlier clients of the session. 0 when this client opened the session. */
  readonly inherited: number;
}
