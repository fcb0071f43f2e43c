import type { QueueRow } from './meter.ts';

/** The columns by which the user can sort the queues in the view of `queuelock top`. */
export type SortKey = 'depth' | 'hand-offs' | 'held' | 'wait' | 'name';

/** The user's choices in the view of `queuelock top`. */
export interface TopState {
  readonly sort: SortKey;
  readonly reverse: boolean;
  /** Text that the name of a queue must contain so that the view shows the queue. */
  readonly filter: string;
  /** Whether the user is typing the filter. */
  readonly typing: boolean;
  /**
   * Name of the queue under the cursor. The cursor follows this queue when its row moves. If it is
   * `undefined`, the cursor is on the first row.
   */
  readonly selected: string | undefined;
  /** Name of the queue that the user has opened, if any. */
  readonly opened: string | undefined;
  /** Number of entries of the opened queue that are scrolled out of view. */
  readonly scrolled: number;
  readonly help: boolean;
}

/** The contents and the size of the screen, which decide what a pressed key does. */
export interface TopScreen {
  /** Names of the queues in all rows, filtered and sorted. */
  readonly names: readonly string[];
  /** Number of rows that fit on the screen. */
  readonly page: number;
  /** Number of entries of the opened queue. */
  readonly entries: number;
}

export const FIRST_STATE: TopState = {
  sort: 'depth',
  reverse: false,
  filter: '',
  typing: false,
  selected: undefined,
  opened: undefined,
  scrolled: 0,
  help: false,
};

/** A pressed key, as node:readline reports it. */
export interface Key {
  readonly name?: string | undefined;
  readonly text?: string | undefined;
  readonly ctrl?: boolean | undefined;
}

const SORTS: ReadonlyMap<string, SortKey> = new Map([
  ['d', 'depth'],
  ['h', 'hand-offs'],
  ['l', 'held'],
  ['w', 'wait'],
  ['n', 'name'],
]);

/** Returns the state after the user has pressed a key, or `quit` if that key ends the command. */
export function onKey(state: TopState, key: Key, screen: TopScreen): TopState | 'quit' {
  if (key.ctrl && key.name === 'c') return 'quit';
  if (state.typing) return onTyped(state, key);
  if (state.help) return { ...state, help: false };
  if (key.text === 'q') return 'quit';
  if (key.text === '?') return { ...state, help: true };
  return state.opened === undefined ? onListKey(state, key, screen) : onQueueKey(state, key, screen);
}

function onTyped(state: TopState, { name, text, ctrl }: Key): TopState {
  if (name === 'return' || name === 'enter') return { ...state, typing: false };
  if (name === 'escape') return { ...state, typing: false, filter: '' };
  if (name === 'backspace') return { ...state, filter: Array.from(state.filter).slice(0, -1).join('') };
  if (ctrl && name === 'u') return { ...state, filter: '' };
  if (ctrl || text === undefined || /\p{C}/u.test(text)) return state;
  return { ...state, filter: state.filter + text, selected: undefined };
}

function onListKey(state: TopState, { name = '', text = '' }: Key, screen: TopScreen): TopState {
  const sort = SORTS.get(text);
  if (sort) return { ...state, sort, reverse: state.sort === sort && !state.reverse, selected: undefined };
  if (text === 'r') return { ...state, reverse: !state.reverse, selected: undefined };
  if (text === '/') return { ...state, typing: true };
  if (name === 'escape') return { ...state, filter: '', selected: undefined };
  const at = cursorOf(state, screen.names);
  if (name === 'return' || name === 'enter' || name === 'right') {
    const opened = screen.names[at];
    return opened === undefined ? state : { ...state, opened, selected: opened, scrolled: 0 };
  }
  const to = moved(at, name, { page: screen.page, count: screen.names.length });
  return to === undefined ? state : { ...state, selected: to === 0 ? undefined : screen.names[to] };
}

function onQueueKey(state: TopState, { name = '' }: Key, { page, entries }: TopScreen): TopState {
  if (['escape', 'backspace', 'left'].includes(name)) return { ...state, opened: undefined };
  const most = Math.max(0, entries - page);
  const to = moved(Math.min(state.scrolled, most), name, { page, count: most + 1 });
  return to === undefined ? state : { ...state, scrolled: to };
}

/**
 * Returns the row to which a cursor key moves in a list of `count` rows. Returns `undefined` for any other
 * key.
 */
function moved(
  at: number,
  name: string,
  { page, count }: { readonly page: number; readonly count: number },
): number | undefined {
  const to = new Map([
    ['up', at - 1],
    ['down', at + 1],
    ['pageup', at - page],
    ['pagedown', at + page],
    ['home', 0],
    ['end', count - 1],
  ]).get(name);
  return to === undefined ? undefined : Math.max(0, Math.min(count - 1, to));
}

/** Returns the number of the selected row, or 0 if the selected queue is not shown. */
export function cursorOf({ selected }: TopState, names: readonly string[]): number {
  return selected === undefined ? 0 : Math.max(0, names.indexOf(selected));
}

const MEASURES: Readonly<Record<Exclude<SortKey, 'name'>, (row: QueueRow) => number>> = {
  depth: ({ depth }) => depth,
  'hand-offs': ({ handOffsPerS }) => handOffsPerS,
  held: ({ heldMs }) => heldMs,
  wait: ({ waitMs }) => waitMs ?? -1,
};

/**
 * Returns the rows of the queues whose name contains the filter. Sorts the rows by name, or by the number in
 * the column `sort` with the largest first. `reverse` reverses the order.
 */
export function chosen(rows: readonly QueueRow[], { sort, reverse, filter }: TopState): readonly QueueRow[] {
  const wanted = rows.filter(({ name }) => name.includes(filter));
  const sorted = wanted.sort((a, b) => compare(a, b, sort) || (a.name < b.name ? -1 : 1));
  return reverse ? sorted.reverse() : sorted;
}

function compare(a: QueueRow, b: QueueRow, sort: SortKey): number {
  return sort === 'name' ? 0 : MEASURES[sort](b) - MEASURES[sort](a);
}
