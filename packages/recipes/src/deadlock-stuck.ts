import type { QueueEntry, QueueState } from '@queuelock/core';

/** An entry that stays where it is, whatever the others do that can do something. */
export interface StuckEntry {
  /** The queue's name. */
  readonly queue: string;
  readonly entry: QueueEntry;
  /** Whether its turn never comes; otherwise it is never released. */
  readonly isWaiting: boolean;
  /**
   * What keeps it there. Of one that is never released: the waits of the call chains that hold it. Of one that waits: those ahead
   * that are never released and conflict; for a reader also the last writer that waits ahead, which is kept in turn by readers.
   * Others that wait ahead are no cause: it would not help if they left.
   */
  readonly causes: readonly StuckEntry[];
}

/** The reduction: takes away what can come to its end until nothing more can, and answers the rest. */
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

/** By the moment of joining, the first first; the same for everybody who sees the same. */
export function byAge({ entry: a }: StuckEntry, { entry: b }: StuckEntry): number {
  if (a.since !== b.since) return (a.since ?? 0) - (b.since ?? 0);
  if (a.order !== b.order) return a.order < b.order ? -1 : 1;
  const [one, other] = [a.id ?? a.key, b.id ?? b.key];
  return one < other ? -1 : Number(one > other);
}

class Node implements StuckEntry {
  readonly queue: string;
  readonly entry: QueueEntry;
  /** Waits of call chains that hold this one. */
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

  /** To be asked for when the reduction is over. */
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

/** As a link between readers; its own wait is another matter. */
function inBetween({ queue, entry, causes }: Node): StuckEntry {
  return { queue, entry, isWaiting: true, causes: causes.filter((cause) => cause.entry.shared) };
}

function lineOf({ name, entries }: QueueState): readonly Node[] {
  const line: Node[] = [];
  for (const entry of entries) line.push(new Node(name, entry, line));
  return line;
}

/** Lets every entry know the waits that hold it. */
function tie(nodes: readonly Node[]): void {
  const byId = new Map<string, Node[]>();
  for (const node of nodes) {
    // One that is seen twice, by two clients, is there twice.
    const { id } = node.entry;
    if (id !== undefined) byId.set(id, [...(byId.get(id) ?? []), node]);
  }
  for (const node of nodes) {
    for (const id of node.entry.holds) byId.get(id)?.forEach(({ heldBy }) => heldBy.push(node));
  }
}

/** Goes through a line once, by the rule that turns are given by; `true` if something moves. */
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
