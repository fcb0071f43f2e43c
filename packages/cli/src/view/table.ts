import type { Colour, Span } from '../terminal/paint.ts';
import { fit, widthOf } from './text.ts';

/** A column of a table. */
export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /**
   * Minimum width to which the column may shrink when the table is too wide. A column without it never
   * shrinks.
   */
  readonly minWidth?: number;
}

/** A row: a text for each column, and the colour of the row. */
export interface Row {
  readonly cells: readonly string[];
  readonly colour?: Colour;
}

const GAP = '  ';

/** Formats a table with its titles, at most `columns` wide if that is given. Leaves out empty columns. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly Row[],
  width: number = Number.POSITIVE_INFINITY,
): Span[][] {
  const used = columns
    .map((column, at) => ({ ...column, at }))
    .filter(({ at }) => rows.some(({ cells }) => (cells[at] ?? '') !== ''));
  const widths = widthsOf(used, rows, width);
  const line = ({ cells, colour }: Row): Span[] => {
    const text = used
      .map(({ at, align }, place) => fit(cells[at] ?? '', widths[place] ?? 0, align))
      .join(GAP)
      .trimEnd();
    const cut = widthOf(text) > width ? fit(text, width) : text;
    return [colour ? [cut, colour] : cut];
  };
  return [line({ cells: columns.map(({ title }) => title), colour: 'dim' }), ...rows.map(line)];
}

function widthsOf(
  columns: readonly (Column & { readonly at: number })[],
  rows: readonly Row[],
  width: number,
): readonly number[] {
  const widths = columns.map(({ title, at }) =>
    rows.reduce((most, { cells }) => Math.max(most, widthOf(cells[at] ?? '')), widthOf(title)),
  );
  let excess = widths.reduce((sum, part) => sum + part + GAP.length, -GAP.length) - width;
  // Repeatedly shrinks the column with the most room above its minimum width, until the table fits.
  while (excess > 0) {
    const spare = columns.map(
      ({ minWidth }, place) => (widths[place] ?? 0) - (minWidth ?? Number.POSITIVE_INFINITY),
    );
    const most = Math.max(...spare);
    if (most <= 0) break;
    const place = spare.indexOf(most);
    const by = Math.max(1, Math.min(most, Math.ceil(excess / 2)));
    widths[place] = (widths[place] ?? 0) - by;
    excess -= by;
  }
  return widths;
}
