/** Properties of a backend and its store, which the user cannot set. */
export interface BackendInfo {
  /** Lower-case name for messages, for example `etcd`. */
  readonly name: string;
  /** The address that the backend connects to, without secrets, for example `etcd://127.0.0.1:2379`. */
  readonly endpoint: string;
  /**
   * What decides the order of the queue. `primary`: one server whose replicas may lag behind. When a replica takes over, it may lack the latest
   * writes. Then two clients may hold until the first holder notices.
   */
  readonly authority: 'process' | 'host' | 'primary' | 'quorum';
  /** The smallest TTL that the backend accepts, in milliseconds. */
  readonly minTtlMs: number;
  /** Explains where `minTtlMs` comes from and how to change it. The error message for a smaller TTL ends with this text. */
  readonly minTtlRule?: string;
  /** The default TTL of a client, in milliseconds. At least `minTtlMs`. */
  readonly defaultTtlMs: number;
  /**
   * Set if a confirmed heartbeat proves the session only from the time at which an earlier heartbeat was sent, as on ZooKeeper. It is the minimum time
   * between the two heartbeats, as a fraction of the TTL. Default 0: a confirmed heartbeat proves the session from the time at which it was sent itself.
   */
  readonly proofLag?: number;
}
