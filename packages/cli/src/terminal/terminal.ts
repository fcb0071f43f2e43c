import type { WriteStream } from 'node:tty';

/** Size and capabilities of a terminal that a frame may use. */
export interface Paper {
  readonly columns: number;
  readonly rows: number;
  /** Whether escape sequences for colours are supported. */
  readonly colours: boolean;
  /** Whether block and box characters are supported. */
  readonly blocks: boolean;
}

/**
 * Returns whether a frame can be redrawn in place: on a terminal that moves its cursor and knows its size.
 * Some streams report that they are a terminal, but have no size.
 */
export function canDraw({ isTTY, columns, rows }: WriteStream): boolean {
  return isTTY && columns > 0 && rows > 0 && process.env['TERM'] !== 'dumb';
}

/**
 * Returns whether lines may be coloured: on a terminal that supports it, unless NO_COLOR is set. FORCE_COLOR also colours a pipe.
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
