import type { NodeStat } from './driver.ts';

/** What was known of a directory when it was listed last, and what has happened there since through this session. */
interface Census {
  /** Of the directory: one of the same name that was made later is another. */
  readonly czxid: bigint;
  /** Twice the children that had been deleted until then, modulo 2^32. */
  readonly twiceDeleted: number;
  children: number;
  /** Own deletes since, each known to have happened. */
  ownDeletes: number;
}

// A queue that was not entered for so many others costs one request more the next time.
const MOST = 1_000;

// Numbers begin again after so many; each took a transaction, so with fewer in all they have not.
const WRAP = 2n ** 31n;

/** A list of so many costs about as much as the looks that would be made in its place. */
const SHORT = 20;

/**
 * What a session remembers of directories.
 *
 * It tells when an entry's node was made without a look at it, where the directory's own facts show that nothing was made or deleted in
 * there since: then the last change of the directory is that node.
 *
 * The server counts: `childChanges` is twice the children ever made less those that are there, and a new node's number is how many were
 * made before it. So it shows by one list whether anything was made after the node. Whether anything was deleted after it, takes two
 * lists: if between an earlier one and this one as many children went as this session itself has deleted, nobody else has deleted
 * any, and its own deletes came before its create, because a server takes the requests of a session in their order.
 *
 * For one session: `taken` and `deleted` are to be called in the order of the answers. Counts are compared modulo 2^31, so they err
 * when exactly that many children come or go between two lists.
 */
export class Censuses {
  readonly #known = new Map<string, Census>();

  /**
   * The directory was listed with the request right after the create of the node with this number.
   * Answers the transaction that made the node, where that is certain.
   */
  taken(directory: string, stat: NodeStat, sequence: number): bigint | undefined {
    const before = this.#known.get(directory);
    const { czxid, childChanges, childCount, childrenZxid } = stat;
    const now = { czxid, twiceDeleted: (childChanges - childCount) | 0, children: childCount, ownDeletes: 0 };
    this.#remember(directory, now);
    const isLastMade = ((2 * (sequence + 1) - childCount) | 0) === childChanges;
    const neverDeleted = sequence + 1 === childCount && childrenZxid - czxid < WRAP;
    return isLastMade && (neverDeleted || onlyOwnDeletes(before, now)) ? childrenZxid : undefined;
  }

  /** This session has deleted a child of it. */
  deleted(directory: string): void {
    const census = this.#known.get(directory);
    if (census) census.ownDeletes += 1;
  }

  /** It has so many children by now. */
  counted(directory: string, children: number): void {
    const census = this.#known.get(directory);
    if (census) census.children = children;
  }

  /** Whether many were there when it was seen last. */
  wasLong(directory: string): boolean {
    return (this.#known.get(directory)?.children ?? 0) > SHORT;
  }

  #remember(directory: string, census: Census): void {
    this.#known.delete(directory);
    this.#known.set(directory, census);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST && oldest !== undefined) this.#known.delete(oldest);
  }
}

function onlyOwnDeletes(before: Census | undefined, now: Census): boolean {
  if (before?.czxid !== now.czxid) return false;
  return ((now.twiceDeleted - before.twiceDeleted) | 0) === ((2 * before.ownDeletes) | 0);
}
