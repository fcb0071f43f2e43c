/** What a backend is; facts, not switches. */
export interface BackendInfo {
  /** Lower case, for messages: `etcd`. */
  readonly name: string;
  /** Where it connects to, without any secret: `etcd://127.0.0.1:2379`. */
  readonly endpoint: string;
  /**
   * Who has the last word on the queue. `primary`: one server, whose replicas may lag: when one of them takes over, the last steps may be
   * forgotten, and then two clients may hold until the earlier one has noticed.
   */
  readonly authority: 'process' | 'host' | 'primary' | 'quorum';
  /** The shortest time to live that the backend accepts, in milliseconds. */
  readonly minTtlMs: number;
  /** Where `minTtlMs` comes from and what changes it, as the end of the sentence that refuses less. */
  readonly minTtlRule?: string;
  /** The time to live of a client that does not say another, in milliseconds. At least `minTtlMs`. */
  readonly defaultTtlMs: number;
  /**
   * Where a heartbeat that was answered proves an earlier one only, as on ZooKeeper: how much earlier that is at least, as a share of the
   * TTL. Default 0: it proves itself.
   */
  readonly proofLag?: number;
}
