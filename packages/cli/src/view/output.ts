import type { LineWriter } from '../lines.ts';
import { tableLines, type Column, type Row } from './table.ts';

/** Returns the width of the terminal, or `Infinity` without a terminal. */
function outputWidth(): number {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** Writes a table, at most as wide as the terminal. */
export function writeTable(lines: LineWriter, columns: readonly Column[], rows: readonly Row[]): void {
  for (const line of tableLines(columns, rows, outputWidth())) lines.paint(line);
}
