/** Facts about a backend; none of them is a setting. */
export interface BackendInfo {
  /** Lower-case name for messages, for example `etcd`. */
  readonly name: string;
  /** The address that the backend connects to, without secrets, for example `etcd://127.0.0.1:2379`. */
  readonly endpoint: string;
  /**
   * The authority that decides the order of the queue. `primary`: one server with replicas that may lag. When a replica takes over, the latest
   * writes may be lost. Two clients may then hold until the earlier one notices.
   */
  readonly authority: 'process' | 'host' | 'primary' | 'quorum';
  /** The smallest TTL that the backend accepts, in milliseconds. */
  readonly minTtlMs: number;
  /** Explains the origin of `minTtlMs` and how to change it. Used as the end of the error message for a smaller TTL. */
  readonly minTtlRule?: string;
  /** The default TTL of a client, in milliseconds. At least `minTtlMs`. */
  readonly defaultTtlMs: number;
  /**
   * How far the proof of a heartbeat lags behind it, as a share of the TTL. Default 0: a confirmed heartbeat proves the session from its own send
   * time. On ZooKeeper a confirmed heartbeat proves the session only from the send time of an earlier heartbeat.
   */
  readonly proofLag?: number;
}
