/** An own entry that is in the queue, as far as this client knows. */
export interface Seated {
  readonly status: 'seated';
  /** Its node. */
  readonly path: string;
  /** Once that is known. */
  readonly token?: bigint | undefined;
  /** It was admitted with this node, and nobody was ahead with whom it conflicts. */
  readonly isOwner?: boolean | undefined;
  /** It was entered with others, and all of them stand at one point in the order of all who do so. */
  readonly isOrdered?: boolean | undefined;
  /** An earlier client of the session has put it in, and this one has not asked for it yet. */
  readonly isInherited?: boolean | undefined;
}

/** One that turns, or has turned, into a reader: the node that it is, and another one that may be there too. */
export interface Turning extends Omit<Seated, 'status'> {
  readonly status: 'turning';
  readonly twin: string;
}

/** What is known of an own entry, with what belongs to that and to nothing else. */
export type EntryState =
  /** It has no node, and nothing is under way that makes one. */
  | { readonly status: 'absent' }
  /** A create was sent, by this client or an earlier one of the session, and its outcome is not known. */
  | { readonly status: 'unknown'; readonly isInherited?: boolean | undefined }
  | Seated
  | Turning
  /** It had this node, and has none any more. It never comes back. */
  | { readonly status: 'gone'; readonly path: string };

/** What it is in the queue with, if it is known to be in there. */
export function nodeOf(state: EntryState): Seated | Turning | undefined {
  return state.status === 'seated' || state.status === 'turning' ? state : undefined;
}

/** The same entry, found to have just this node. */
export function seatedAgain(
  state: EntryState,
  { path, token }: { readonly path: string; readonly token: bigint },
): Seated {
  const { isOwner, isOrdered } = nodeOf(state)?.path === path ? (nodeOf(state) ?? {}) : {};
  const isInherited = 'isInherited' in state ? state.isInherited : undefined;
  return { status: 'seated', path, token, isOwner, isOrdered, isInherited };
}
