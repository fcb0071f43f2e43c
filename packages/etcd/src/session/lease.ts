/** A lease of etcd: the id, and the TTL that the server has granted. */
export interface Lease {
  /** The id of the lease as decimal text of an int64. */
  readonly id: string;
  readonly ttlMs: number;
}
