/** An entry of this session that is in the queue, as far as this client knows. */
export interface PresentEntry {
  readonly status: 'present';
  /** The path of the entry's node. */
  readonly path: string;
  /** The entry's fencing token, once it is known. */
  readonly token?: bigint | undefined;
  /**
   * Whether the entry was admitted as the only holder, with the node that it has now. If so, its removal
   * admits the next waiter; see `markOwned` in `entry.ts`.
   */
  readonly isOwner?: boolean | undefined;
  /**
   * Whether one call has enqueued the entry together with entries of other queues, in the same order as other
   * such calls. So the wait for the entry cannot cause a deadlock; see `enqueue-all.ts`.
   */
  readonly isOrdered?: boolean | undefined;
}

/** An entry that is being converted to a reader, or that was converted. It may have two nodes. */
interface ConvertingEntry extends Omit<PresentEntry, 'status'> {
  readonly status: 'converting';
  readonly otherPath: string;
}

/** An entry of this session that has a node, as far as this client knows. */
export type QueuedEntry = PresentEntry | ConvertingEntry;

/** The state of an entry of this session, with the data that belongs to each state. */
export type EntryState =
  /** The entry has no node, and no request that creates one is in flight. */
  | { readonly status: 'absent' }
  /** This or an earlier client of the session has sent a create whose outcome is unknown. */
  | { readonly status: 'unknown' }
  | QueuedEntry
  /** The entry had this node and lost or removed it. This state is final. */
  | { readonly status: 'removed'; readonly path: string };

/** Returns the node of the entry if the entry is known to be in the queue. */
export function nodeOf(state: EntryState): QueuedEntry | undefined {
  return state.status === 'present' || state.status === 'converting' ? state : undefined;
}

/** Returns the state of an entry after a read has found its node. */
export function asPresent(
  state: EntryState,
  { path, token }: { readonly path: string; readonly token: bigint },
): PresentEntry {
  const { isOwner, isOrdered } = nodeOf(state)?.path === path ? (nodeOf(state) ?? {}) : {};
  return { status: 'present', path, token, isOwner, isOrdered };
}

/** A listener for the conversion of an entry to a reader. */
export interface SharedListener {
  shared(): void;
}
