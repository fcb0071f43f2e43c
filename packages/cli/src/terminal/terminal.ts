import type { WriteStream } from 'node:tty';

/** What a snapshot may use. */
export interface Paper {
  readonly columns: number;
  readonly rows: number;
  /** Escape sequences for colours. */
  readonly colours: boolean;
  /** Block and box characters. */
  readonly blocks: boolean;
}

/** Whether a snapshot can be redrawn in place: a terminal that moves its cursor and knows its size; some pretend to be one and have none. */
export function canDraw({ isTTY, columns, rows }: WriteStream): boolean {
  return isTTY && columns > 0 && rows > 0 && process.env['TERM'] !== 'dumb';
}

/** Whether lines may be coloured: on a terminal that can, unless NO_COLOR is set; FORCE_COLOR colours a pipe, too. */
export function hasColours(stream: WriteStream): boolean {
  if (process.env['NO_COLOR']) return false;
  if (process.env['FORCE_COLOR']) return process.env['FORCE_COLOR'] !== '0';
  return stream.isTTY && stream.hasColors();
}

/** The paper that a terminal is at the moment. */
export function paperOf(terminal: WriteStream): Paper {
  const { columns, rows } = terminal;
  return { columns, rows, colours: hasColours(terminal), blocks: process.env['TERM'] !== 'linux' };
}
