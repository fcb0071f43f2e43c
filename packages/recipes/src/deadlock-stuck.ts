import type { QueueEntry, QueueState } from '@queuelock/core';

/** An entry that certainly never leaves its queue by itself, because a deadlock blocks it. */
export interface StuckEntry {
  /** Name of the queue that contains the entry. */
  readonly queue: string;
  readonly entry: QueueEntry;
  /** Whether the entry waits and is never granted. If `false`, the entry is granted but never released. */
  readonly isWaiting: boolean;
  /**
   * The entries that block this entry.
   * - For an entry that is held and never released: the entries with which the call chains that hold it wait.
   * - For a waiting entry: the conflicting entries ahead that are never released. Waiting entries ahead do
   *   not count, because their removal would not help.
   * - For a waiting shared entry also the last waiting exclusive entry ahead, if that exclusive entry is
   *   blocked by shared entries.
   */
  readonly causes: readonly StuckEntry[];
}

/**
 * Returns the entries that can never leave their queues: they are never granted, or never released.
 * Repeatedly removes entries that can be granted and released, until none is left to remove. In the
 * literature this is called the reduction of the waits-for graph.
 */
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

/**
 * Compares two entries by the time at which they joined, the older one first. Clients with the same snapshots
 * get the same order.
 */
export function byAge({ entry: a }: StuckEntry, { entry: b }: StuckEntry): number {
  if (a.since !== b.since) return (a.since ?? 0) - (b.since ?? 0);
  if (a.order !== b.order) return a.order < b.order ? -1 : 1;
  const [one, other] = [a.id ?? a.key, b.id ?? b.key];
  return one < other ? -1 : Number(one > other);
}

class Node implements StuckEntry {
  readonly queue: string;
  readonly entry: QueueEntry;
  /** The entries that name this entry in their `holds`. The call chains that made them hold this entry. */
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

  /**
   * The entries that block this entry. Read this property only after all entries that can leave were removed.
   */
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

/**
 * Returns a copy of a waiting exclusive entry, as a cause for which a shared entry behind it waits. The copy
 * keeps only the shared entries among its own `causes`. The exclusive ones are already `causes` of the shared
 * entry.
 */
function inBetween({ queue, entry, causes }: Node): StuckEntry {
  return { queue, entry, isWaiting: true, causes: causes.filter((cause) => cause.entry.shared) };
}

function lineOf({ name, entries }: QueueState): readonly Node[] {
  const line: Node[] = [];
  for (const entry of entries) line.push(new Node(name, entry, line));
  return line;
}

/**
 * Links each entry with the entries that name it in their `holds`. The call chains that made them hold it.
 */
function tie(nodes: readonly Node[]): void {
  const byId = new Map<string, Node[]>();
  for (const node of nodes) {
    // If two clients watch the same queue, each of its entries is present twice.
    const { id } = node.entry;
    if (id !== undefined) byId.set(id, [...(byId.get(id) ?? []), node]);
  }
  for (const node of nodes) {
    for (const id of node.entry.holds) byId.get(id)?.forEach(({ heldBy }) => heldBy.push(node));
  }
}

/**
 * Determines once, from front to back, which entries of a queue can be granted and which can be released.
 * Returns whether it has found another entry that can.
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
