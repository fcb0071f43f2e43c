import type { QueueRow } from './meter.ts';

/** The columns by which the list of queues may be sorted. */
export type SortKey = 'depth' | 'hand-offs' | 'held' | 'turn' | 'wait' | 'name';

/** How the user has filtered and sorted the list of queues. */
export interface Choice {
  readonly sort: SortKey;
  readonly reverse: boolean;
  /** The text that the user searches for. Only queues whose names contain it, ignoring case, are shown. */
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

/**
 * Returns the rows of the list of queues whose names match the user's search, sorted as the user has chosen.
 * Numbers are sorted from the largest, names from A to Z.
 */
export function visibleRows(
  rows: readonly QueueRow[],
  { sort, reverse, filter }: Choice,
): readonly QueueRow[] {
  const filterText = filter.toLowerCase();
  const found = rows.filter(({ name }) => name.toLowerCase().includes(filterText));
  const sorted = found.sort((a, b) => compare(a, b, sort) || (a.name < b.name ? -1 : 1));
  return reverse ? sorted.reverse() : sorted;
}

function compare(a: QueueRow, b: QueueRow, sort: SortKey): number {
  return sort === 'name' ? 0 : MEASURES[sort](b) - MEASURES[sort](a);
}

/**
 * Returns how the list of queues is sorted after a click on a column title: by that column, or in reverse if
 * it is already sorted by that column.
 */
export function sortedBy(choice: Choice, sort: SortKey): Choice {
  return { ...choice, sort, reverse: choice.sort === sort && !choice.reverse };
}
