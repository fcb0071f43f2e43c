import type { LineWriter } from '../lines.ts';
import { tableLines, type Column, type Row } from './table.ts';

/** The columns that a line may take: those of the terminal, as many as it likes elsewhere. */
function outputWidth(): number {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** Writes a table, as wide as the terminal at most. */
export function writeTable(lines: LineWriter, columns: readonly Column[], rows: readonly Row[]): void {
  for (const line of tableLines(columns, rows, outputWidth())) lines.paint(line);
}
