import type { WriteStream } from 'node:tty';

/** Size and capabilities of a terminal that a frame may use. */
export interface Paper {
  readonly columns: number;
  readonly rows: number;
  /** Whether the terminal supports escape sequences for colours. */
  readonly colours: boolean;
  /** Whether the terminal supports block and box characters. */
  readonly blocks: boolean;
}

/**
 * Returns whether a stream can redraw a frame in place: it is a terminal that moves its cursor and knows its
 * size. Some streams report that they are a terminal, but have no size.
 */
export function canDraw({ isTTY, columns, rows }: WriteStream): boolean {
  return isTTY && columns > 0 && rows > 0 && process.env['TERM'] !== 'dumb';
}

/**
 * Returns whether a stream may be coloured: it is a terminal with colours, and NO_COLOR is not set. With
 * FORCE_COLOR a pipe is coloured too.
 */
export function hasColours(stream: WriteStream): boolean {
  if (process.env['NO_COLOR']) return false;
  if (process.env['FORCE_COLOR']) return process.env['FORCE_COLOR'] !== '0';
  return stream.isTTY && stream.hasColors();
}

/** Returns the current capabilities of a terminal. */
export function paperOf(terminal: WriteStream): Paper {
  const { columns, rows } = terminal;
  return { columns, rows, colours: hasColours(terminal), blocks: process.env['TERM'] !== 'linux' };
}
