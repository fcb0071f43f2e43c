import type { QueueEntry, QueueState } from '@queuelock/core';

/** A stuck entry: it stays in its queue even if every entry that can end has ended. */
export interface StuckEntry {
  /** The queue's name. */
  readonly queue: string;
  readonly entry: QueueEntry;
  /** Whether the entry is never granted. Otherwise it is granted, but never released. */
  readonly isWaiting: boolean;
  /**
   * The entries that block this entry. For an entry that is never released: the waits of the call chains that hold it. For a waiting entry: the
   * conflicting entries ahead that are never released. For a waiting shared entry also the last exclusive entry that waits ahead, which in turn is
   * blocked by shared entries. Other waiting entries ahead are not causes, because their removal would not help.
   */
  readonly causes: readonly StuckEntry[];
}

/** Removes entries that can end, until no more can, and returns the rest. This is the reduction of the waits-for graph. */
export function stuckOf(queues: readonly QueueState[]): readonly StuckEntry[] {
  const lines = queues.map(lineOf);
  const nodes = lines.flat();
  tie(nodes);
  let moves: boolean;
  do {
    moves = lines.map(sweep).includes(true);
  } while (moves);
  return nodes.filter(({ mayEnd }) => !mayEnd);
}

/** Orders entries by the time at which they joined, the oldest first. All clients that have the same snapshots get the same order. */
export function byAge({ entry: a }: StuckEntry, { entry: b }: StuckEntry): number {
  if (a.since !== b.since) return (a.since ?? 0) - (b.since ?? 0);
  if (a.order !== b.order) return a.order < b.order ? -1 : 1;
  const [one, other] = [a.id ?? a.key, b.id ?? b.key];
  return one < other ? -1 : Number(one > other);
}

class Node implements StuckEntry {
  readonly queue: string;
  readonly entry: QueueEntry;
  /** Waits of call chains that hold this entry. */
  readonly heldBy: Node[] = [];
  mayBegin = false;
  mayEnd = false;
  readonly #line: readonly Node[];
  #causes: readonly StuckEntry[] | undefined;

  constructor(queue: string, entry: QueueEntry, line: readonly Node[]) {
    this.queue = queue;
    this.entry = entry;
    this.#line = line;
  }

  get isWaiting(): boolean {
    return !this.mayBegin;
  }

  /** The entries that block this entry. Valid only after the reduction has ended. */
  get causes(): readonly StuckEntry[] {
    this.#causes ??= this.isWaiting
      ? this.#ahead()
      : this.heldBy.filter(({ isWaiting }) => isWaiting).sort(byAge);
    return this.#causes;
  }

  #ahead(): readonly StuckEntry[] {
    const ahead = this.#line.slice(0, this.#line.indexOf(this)).filter(({ mayEnd }) => !mayEnd);
    const held = ahead.filter(({ isWaiting }) => !isWaiting);
    if (!this.entry.shared) return held;
    const direct = held.filter(({ entry }) => !entry.shared);
    const writer = ahead.findLast(({ isWaiting, entry }) => isWaiting && !entry.shared);
    return writer ? [...direct, inBetween(writer)] : direct;
  }
}

/** Returns a waiting exclusive entry as seen by a shared entry behind it: with only those causes that are shared entries. */
function inBetween({ queue, entry, causes }: Node): StuckEntry {
  return { queue, entry, isWaiting: true, causes: causes.filter((cause) => cause.entry.shared) };
}

function lineOf({ name, entries }: QueueState): readonly Node[] {
  const line: Node[] = [];
  for (const entry of entries) line.push(new Node(name, entry, line));
  return line;
}

/** Adds to every entry the waits of the call chains that hold it. */
function tie(nodes: readonly Node[]): void {
  const byId = new Map<string, Node[]>();
  for (const node of nodes) {
    // An entry of a queue that two clients watch is present twice.
    const { id } = node.entry;
    if (id !== undefined) byId.set(id, [...(byId.get(id) ?? []), node]);
  }
  for (const node of nodes) {
    for (const id of node.entry.holds) byId.get(id)?.forEach(({ heldBy }) => heldBy.push(node));
  }
}

/**
 * Applies the rule of admission to the entries of a queue once, from front to back. Returns `true` if this shows that a further entry can
 * be granted or can end.
 */
function sweep(line: readonly Node[]): boolean {
  let moves = false;
  let taken = 0;
  let takenByExclusive = 0;
  for (const node of line) {
    const { shared, permits, limit } = node.entry;
    const begins = !node.mayBegin && (shared ? takenByExclusive : taken) + permits <= limit;
    node.mayBegin ||= begins;
    const ends = !node.mayEnd && node.mayBegin && !node.heldBy.some(({ isWaiting }) => isWaiting);
    node.mayEnd ||= ends;
    moves ||= begins || ends;
    if (node.mayEnd) continue;
    taken += permits;
    if (!shared) takenByExclusive += permits;
  }
  return moves;
}
