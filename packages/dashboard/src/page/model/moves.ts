/**
 * The first and last index of the visible table rows, how many rows to render around them, and the number of
 * all rows.
 */
interface Shown {
  readonly startIndex: number;
  readonly endIndex: number;
  readonly overscan: number;
  readonly count: number;
}

/**
 * Returns which rows of a table to render: the visible rows, some rows around them, and the focused row.
 * Removing the focused row would lose the focus.
 */
export function withFocused({ startIndex, endIndex, overscan, count }: Shown, focused: number): number[] {
  const first = Math.max(0, startIndex - overscan);
  const last = Math.min(count - 1, endIndex + overscan);
  const rows = Array.from({ length: Math.max(0, last - first + 1) }, (_one, place) => first + place);
  if (focused < 0 || focused >= count || (focused >= first && focused <= last)) return rows;
  return focused < first ? [focused, ...rows] : [...rows, focused];
}

/** Returns the index of the table row to which a cursor key moves the focus; `undefined` for another key. */
export function targetOf(
  key: string,
  at: number,
  { last, page }: { readonly last: number; readonly page: number },
): number | undefined {
  const to = new Map([
    ['ArrowUp', at - 1],
    ['ArrowDown', at + 1],
    ['PageUp', at - page],
    ['PageDown', at + page],
    ['Home', 0],
    ['End', last],
  ]).get(key);
  return to === undefined || last < 0 ? undefined : Math.max(0, Math.min(last, to));
}
