import { facts } from '@queuelock/conformance';
import { textOf } from '../pages/scratch.ts';
import type { Report } from './run-job.ts';
import type { Runtime } from './runtimes.ts';

/**
 * Returns what the table in COMPATIBILITY.md must say about these results of the conformance suite, as the
 * text of a cell.
 */
export function cellOf({ outcomes, refusal }: Report): string {
  if (refusal !== undefined) return `refused, \`${refusal.code}\`${refusal.retryable ? ', retryable' : ''}`;
  const kept = outcomes.filter(({ failure }) => failure === undefined);
  return `${String(kept.length)} of ${String(facts.length)}`;
}

/**
 * Returns the cell of the table in COMPATIBILITY.md for a store on a runtime, or `undefined` if there is
 * none.
 */
export function documentedCell(store: string, { name, version }: Runtime): string | undefined {
  const rows = textOf('COMPATIBILITY')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const heads = rows.find((cells) => cells[1] === 'store' && cells.some((cell) => cell.startsWith('Bun ')));
  const title = name === 'Node' ? name : `${name} ${version}`;
  const column = heads?.findIndex((cell) => cell === title || (name === 'Node' && cell.startsWith('Node')));
  return rows.find((cells) => cells[1] === store)?.[column ?? -1];
}
