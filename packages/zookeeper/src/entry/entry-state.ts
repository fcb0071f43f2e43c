/** An entry of this session that is in the queue, as far as this client knows. */
export interface PresentEntry {
  readonly status: 'present';
  /** The path of the entry's node. */
  readonly path: string;
  /** The entry's fencing token, once it is known. */
  readonly token?: bigint | undefined;
  /** Whether the entry was admitted with this node while no conflicting entry was ahead. */
  readonly isOwner?: boolean | undefined;
  /**
   * Whether the entry was enqueued in one transaction with entries of other queues. Two such transactions have the same order in all queues that both
   * enter.
   */
  readonly isOrdered?: boolean | undefined;
}

/** An entry that is being converted to a reader, or that was converted. It may have two nodes. */
interface ConvertingEntry extends Omit<PresentEntry, 'status'> {
  readonly status: 'converting';
  readonly otherPath: string;
}

/** An own entry that has a node. */
export type QueuedEntry = PresentEntry | ConvertingEntry;

/** The state of an entry of this session, with the data that belongs to each state. */
export type EntryState =
  /** The entry has no node, and no request that creates one is in flight. */
  | { readonly status: 'absent' }
  /** A create was sent by this client or an earlier client of the session, and its outcome is unknown. */
  | { readonly status: 'unknown' }
  | QueuedEntry
  /** The entry had this node and lost or removed it. This state is final. */
  | { readonly status: 'removed'; readonly path: string };

/** Returns the node of the entry if the entry is known to be in the queue. */
export function nodeOf(state: EntryState): QueuedEntry | undefined {
  return state.status === 'present' || state.status === 'converting' ? state : undefined;
}

/** Returns the state of the same entry after a read found this node. */
export function asPresent(
  state: EntryState,
  { path, token }: { readonly path: string; readonly token: bigint },
): PresentEntry {
  const { isOwner, isOrdered } = nodeOf(state)?.path === path ? (nodeOf(state) ?? {}) : {};
  return { status: 'present', path, token, isOwner, isOrdered };
}
