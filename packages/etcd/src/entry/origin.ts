/** The state of the session and the queue when an entry is created. */
export interface Origin {
  readonly prefix: string;
  readonly lease: string;
  /** The newest revision of the store that the client knew before the enqueue. */
  readonly revision: bigint;
  /** The revision at which this process resumed the session, or 0. Entries with smaller revisions were created by the process before it. */
  readonly resumedAt: bigint;
  /** The key that clients without a queue lock; see `single-key.ts`. */
  readonly single?: Buffer | undefined;
  /** Whether the queue's naming is `fast`. */
  readonly isFast: boolean;
  /** The id in the entry's key, which may differ from the entry's own; see `key-ids.ts`. */
  readonly keyId: string;
}
