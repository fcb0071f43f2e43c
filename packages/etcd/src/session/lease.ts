/** A lease of etcd. */
export interface Lease {
  /** The id as decimal text of an int64. */
  readonly id: string;
  readonly ttlMs: number;
}
