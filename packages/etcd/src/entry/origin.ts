/** Data of the session and the queue at the creation of an entry, such as the lease, the store's revision and the naming. */
export interface Origin {
  readonly prefix: string;
  readonly lease: string;
  /** The newest revision of the store that the client knew before it enqueued the entry. */
  readonly revision: bigint;
  /**
   * The revision at which this process resumed the session, or 0. The process that had the session before has created all entries with smaller
   * revisions.
   */
  readonly resumedAt: bigint;
  /** The key that clients without a queue lock; see `single-key.ts`. */
  readonly single?: Buffer | undefined;
  /** Whether the naming of the entry's queue is `fast`. */
  readonly isFast: boolean;
  /** The id in the entry's key, which may differ from the id of the entry; see `key-ids.ts`. */
  readonly keyId: string;
}
