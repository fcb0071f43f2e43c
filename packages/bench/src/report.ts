import { writeFile } from 'node:fs/promises';
import { arch, cpus, release } from 'node:os';
import type { Cell } from './cells.ts';
import { goalTable, subjectsOf } from './goals.ts';
import type { BenchOptions } from './options.ts';
import type { Results } from './results.ts';
import type { Outcome } from './rounds.ts';
import { barsSvg } from './svg.ts';
import { cellTable } from './table.ts';

/** Prints the tables and the goals. Writes the files for which the command line has options. */
export async function report(outcome: Outcome, { json, svg }: BenchOptions): Promise<void> {
  const { results, missing, versions } = outcome;
  const cells = cellsIn(results);
  console.log(
    Object.entries(versions)
      .map((pair) => pair.join(' '))
      .join(', '),
  );
  for (const cell of cells) console.log(`\n${cellTable(results, cell)}`);
  for (const subject of subjectsOf(results)) console.log(`\n${goalTable(subject)}`);
  if (missing.length > 0) console.log(`\nLeft out:\n${missing.map((line) => `- ${line}`).join('\n')}`);
  if (json !== undefined) await writeFile(json, asJson(outcome));
  if (svg !== undefined) await writeFile(svg, barsSvg(results, cells));
}

function cellsIn(results: Results): Cell[] {
  return [...new Map(results.all.map(({ cell }) => [JSON.stringify(cell), cell])).values()];
}

function asJson({ results, missing, versions }: Outcome): string {
  const machine = {
    processors: cpus().length,
    model: cpus()[0]?.model,
    system: `${process.platform} ${release()} ${arch()}`,
    node: process.version,
  };
  return `${JSON.stringify({ machine, versions, missing, results: results.all }, null, 2)}\n`;
}
