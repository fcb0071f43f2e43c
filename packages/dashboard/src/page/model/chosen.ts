import type { QueueRow } from './meter.ts';

/** What rows are ordered by. */
export type SortKey = 'depth' | 'hand-offs' | 'held' | 'turn' | 'wait' | 'name';

/** What is to be seen of the queues, and in which order. */
export interface Choice {
  readonly sort: SortKey;
  readonly reverse: boolean;
  /** Only queues whose names have this in them, in small letters or capitals. */
  readonly filter: string;
}

export const FIRST_CHOICE: Choice = { sort: 'depth', reverse: false, filter: '' };

const MEASURES: Readonly<Record<Exclude<SortKey, 'name'>, (row: QueueRow) => number>> = {
  depth: ({ depth }) => depth,
  'hand-offs': ({ handOffsPerS }) => handOffsPerS,
  held: ({ heldMs }) => heldMs,
  turn: ({ turnMs }) => turnMs ?? -1,
  wait: ({ waitMs }) => waitMs ?? -1,
};

/** The rows that are to be seen, the largest first; by name from A to Z. */
export function chosen(rows: readonly QueueRow[], { sort, reverse, filter }: Choice): readonly QueueRow[] {
  const wanted = filter.toLowerCase();
  const found = rows.filter(({ name }) => name.toLowerCase().includes(wanted));
  const sorted = found.sort((a, b) => compare(a, b, sort) || (a.name < b.name ? -1 : 1));
  return reverse ? sorted.reverse() : sorted;
}

function compare(a: QueueRow, b: QueueRow, sort: SortKey): number {
  return sort === 'name' ? 0 : MEASURES[sort](b) - MEASURES[sort](a);
}

/** What a title that is pressed leads to: its order, or the same one reversed. */
export function sortedBy(choice: Choice, sort: SortKey): Choice {
  return { ...choice, sort, reverse: choice.sort === sort && !choice.reverse };
}
