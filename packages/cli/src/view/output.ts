import type { LineWriter } from '../lines.ts';
import { paint, type Span } from '../terminal/paint.ts';
import { hasColours } from '../terminal/terminal.ts';
import { tableLines, type Column, type Row } from './table.ts';

/** The columns that a line may take: those of the terminal, as many as it likes elsewhere. */
function outputWidth(): number {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** Writes one line, coloured where colours are wanted. */
export function writeLine(lines: LineWriter, line: readonly Span[]): void {
  lines.write(paint(line, { columns: Number.POSITIVE_INFINITY, colours: hasColours(process.stdout) }));
}

/** Writes a table, as wide as the terminal at most. */
export function writeTable(lines: LineWriter, columns: readonly Column[], rows: readonly Row[]): void {
  for (const line of tableLines(columns, rows, outputWidth())) writeLine(lines, line);
}
