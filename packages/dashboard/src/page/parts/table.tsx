import { useWindowVirtualizer, type Range } from '@tanstack/react-virtual';
import { useCallback, useLayoutEffect, useRef, useState, type ReactElement, type ReactNode } from 'react';
import { useMedia } from '../hooks/media.ts';
import { targetOf, withFocused } from '../model/moves.ts';

/** A column of a table. */
export interface Column<R> {
  readonly id: string;
  readonly title: string;
  /** Whether the cells of the column are numbers, which are aligned to the right. */
  readonly isNumber?: boolean;
  /** Whether the table hides this column before other columns when there is not enough room. */
  readonly isSpare?: boolean;
  readonly cell: (row: R) => ReactNode;
  /** Called when the user clicks the title of the column. */
  readonly onSort?: () => void;
}

export interface TableProps<R> {
  /** Accessible name of the table, for screen readers. */
  readonly label: string;
  /** The end of the CSS class `table-…`, which sets the widths of the columns. */
  readonly kind: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string;
  readonly classOf?: (row: R) => string | undefined;
  readonly sorted?: { readonly id: string; readonly isUp: boolean };
}

const ROW_PX = 46;
const NARROW_ROW_PX = 64;
const SPARE_ROWS = 6;

/**
 * A table of any length, which scrolls with the page. Only the visible rows and the focused row are rendered.
 */
export function Table<R>(props: TableProps<R>): ReactElement {
  const { label, kind, columns, rows, keyOf } = props;
  const body = useRef<HTMLDivElement>(null);
  const rowPx = useMedia('(max-width: 720px)') ? NARROW_ROW_PX : ROW_PX;
  const top = useTopOf(body);
  const [focused, setFocused] = useState<string>();
  const focusedAt = focused === undefined ? -1 : rows.findIndex((row) => keyOf(row) === focused);
  const virtual = useWindowVirtualizer<HTMLDivElement>({
    count: rows.length,
    estimateSize: useCallback(() => rowPx, [rowPx]),
    overscan: SPARE_ROWS,
    scrollMargin: top,
    rangeExtractor: (range: Range) => withFocused(range, focusedAt),
  });
  useLayoutEffect(() => {
    virtual.measure();
  }, [virtual, rowPx]);
  const move = useMoves(body, (to) => {
    virtual.scrollToIndex(to, { align: 'auto' });
  });
  return (
    <div className={`table table-${kind}`} role="table" aria-label={label} aria-rowcount={rows.length + 1}>
      <Titles {...props} />
      <div
        className="rows"
        role="rowgroup"
        ref={body}
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={(event) => {
          const to = targetOf(event.key, focusedAt, {
            last: rows.length - 1,
            page: Math.floor(innerHeight / rowPx) - 3,
          });
          if (to === undefined) return;
          event.preventDefault();
          move(to);
        }}
        onFocus={({ target }) => {
          const at = indexOf(target);
          const row = rows[at];
          setFocused(row === undefined ? undefined : keyOf(row));
        }}
        onBlur={({ relatedTarget, currentTarget }) => {
          if (!currentTarget.contains(relatedTarget)) setFocused(undefined);
        }}
      >
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <div
              key={keyOf(row)}
              role="row"
              aria-rowindex={index + 2}
              data-index={index}
              className={`row ${props.classOf?.(row) ?? ''}`}
              style={{ height: rowPx, transform: `translateY(${start - top}px)` }}
            >
              {columns.map((column) => (
                <div key={column.id} role="cell" data-title={column.title} className={classesOf(column)}>
                  {column.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Titles<R>({ columns, sorted }: TableProps<R>): ReactElement {
  return (
    <div role="rowgroup" className="titles">
      <div role="row" aria-rowindex={1} className="row">
        {columns.map((column) => {
          const { id, title, onSort } = column;
          const direction = sorted?.id === id ? (sorted.isUp ? 'ascending' : 'descending') : undefined;
          return (
            <div key={id} role="columnheader" aria-sort={direction} className={classesOf(column)}>
              {onSort ? (
                <button type="button" className="sort" onClick={onSort}>
                  {title}
                  <span aria-hidden="true">{direction && (direction === 'ascending' ? '↑' : '↓')}</span>
                </button>
              ) : (
                title
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function classesOf<R>({ id, isNumber, isSpare }: Column<R>): string {
  return `cell cell-${id}${isNumber ? ' number' : ''}${isSpare ? ' spare' : ''}`;
}

function indexOf(element: Element): number {
  const row = element.closest<HTMLElement>('[data-index]');
  return Number(row?.dataset['index'] ?? -1);
}

/**
 * Returns a function that moves the focus to the first link or button of another table row, once that row is
 * rendered.
 */
function useMoves(
  body: { readonly current: HTMLDivElement | null },
  reveal: (to: number) => void,
): (to: number) => void {
  const [wanted, setWanted] = useState<number>();
  useLayoutEffect(() => {
    if (wanted === undefined) return;
    const row = body.current?.querySelector(`[data-index="${wanted}"]`);
    if (!row) return;
    row.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true });
    setWanted(undefined);
  });
  return (to) => {
    reveal(to);
    setWanted(to);
  };
}

/** Returns the distance of an element from the top of the page, which changes when elements above it appear or disappear. */
function useTopOf(element: { readonly current: HTMLElement | null }): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = (): void => {
      if (element.current) setTop(Math.round(element.current.getBoundingClientRect().top + scrollY));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => {
      observer.disconnect();
    };
  }, [element]);
  return top;
}
