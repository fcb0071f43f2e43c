import type { Verdict } from '@queuelock/harness/check';
import { INVARIANTS } from '@queuelock/harness/check/finding';
import type { Numbers } from '@queuelock/harness/check/numbers';
import { spreadOf, type Samples } from '@queuelock/harness/check/samples';

/** The verdicts on all runs of one scenario on one store. */
export interface Group {
  readonly name: string;
  readonly verdicts: readonly Verdict[];
}

/**
 * The results of runs as a table. It has a row for each result, such as the number of holds, and a column for
 * each group of runs that are added up.
 */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly string[] }[];
}

type Row = readonly [name: string, cell: (group: Group) => string];

export function tableOf(groups: readonly Group[]): Table {
  const kinds = kindsOf(groups, (numbers) => numbers.kinds);
  const faults = kindsOf(groups, (numbers) => numbers.faults);
  const leftOvers = kindsOf(groups, (numbers) => numbers.leftOvers);
  const rows: Row[] = [
    ['runs', ({ verdicts }) => count(verdicts.length)],
    ['holds checked', sumOf((numbers) => numbers.holds)],
    ...(kinds.length > 1 ? kinds : []).map((kind): Row => [
      `  ${kind}`,
      sumOf((numbers) => numbers.kinds[kind] ?? 0),
    ]),
    ['faults injected', sumOf((numbers) => total(Object.values(numbers.faults)))],
    ...faults.map((kind): Row => [`  ${kind}`, sumOf((numbers) => numbers.faults[kind] ?? 0)]),
    ...INVARIANTS.map((rule): Row => [`${rule} violations`, (group) => count(findingsOf(group, rule))]),
    ['S3 after a loss, min / p1', spread((numbers) => numbers.gaps.lost, ['min', 'p1'])],
    ['S3 after a release, min / p1', spread((numbers) => numbers.gaps.released, ['min', 'p1'])],
    ['clean hand-over, p50 / p99 / max', spread((numbers) => numbers.handOvers.clean, ['p50', 'p99', 'max'])],
    ['crash hand-over, p50 / p99 / max', spread((numbers) => numbers.handOvers.crash, ['p50', 'p99', 'max'])],
    [
      '  servers in trouble, too',
      spread((numbers) => numbers.handOvers.crashInTrouble, ['p50', 'p99', 'max']),
    ],
    ['left-overs', sumOf((numbers) => total(Object.values(numbers.leftOvers)))],
    ...leftOvers.map((kind): Row => [`  ${kind}`, sumOf((numbers) => numbers.leftOvers[kind] ?? 0)]),
    ['late writes that fencing would stop', sumOf((numbers) => numbers.saved.effects)],
    ['  of so many holds', sumOf((numbers) => numbers.saved.holds)],
    ['time held', heldShare],
    ['longest own loop delay', longest((numbers) => numbers.loopDelayMs, 'ms')],
    ['heap growth per attempt', longest((numbers) => numbers.bytesPerCycle, 'bytes')],
  ];
  return {
    columns: groups.map(({ name }) => name),
    rows: rows.map(([name, cell]) => ({ name, cells: groups.map(cell) })),
  };
}

/** Formats the table for a terminal: names are aligned to the left, numbers to the right. */
export function plainTable({ columns, rows }: Table): string {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length));
  const widths = columns.map((column, i) =>
    Math.max(column.length, ...rows.map(({ cells }) => cells[i]?.length ?? 0)),
  );
  const line = (name: string, cells: readonly string[]): string =>
    [name.padEnd(nameWidth), ...cells.map((cell, i) => cell.padStart(widths[i] ?? 0))].join('  ').trimEnd();
  return [line('', columns), ...rows.map(({ name, cells }) => line(name, cells))].join('\n');
}

export function markdownTable({ columns, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(inCell).join(' | ')} |`;
  const rule = `| --- |${columns.map(() => ' ---: |').join('')}`;
  const body = rows.map(({ name, cells }) => line([name.replace(/^ +/, '↳ '), ...cells]));
  return [line(['', ...columns]), rule, ...body].join('\n');
}

function inCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');
}

function findingsOf({ verdicts }: Group, rule: string): number {
  return total(verdicts.map(({ findings }) => findings.filter((finding) => finding.rule === rule).length));
}

function kindsOf(
  groups: readonly Group[],
  counts: (numbers: Numbers) => Readonly<Record<string, number>>,
): string[] {
  const kinds = groups.flatMap(({ verdicts }) =>
    verdicts.flatMap(({ numbers }) => Object.keys(counts(numbers))),
  );
  return [...new Set(kinds)].sort();
}

function sumOf(amount: (numbers: Numbers) => number): (group: Group) => string {
  return ({ verdicts }) => count(total(verdicts.map(({ numbers }) => amount(numbers))));
}

function spread(
  samples: (numbers: Numbers) => Samples,
  shown: readonly ('min' | 'p1' | 'p50' | 'p99' | 'max')[],
) {
  return ({ verdicts }: Group): string => {
    const found = spreadOf(verdicts.flatMap(({ numbers }) => samples(numbers)));
    return found ? `${shown.map((name) => milliseconds(found[name])).join(' / ')} ms` : '–';
  };
}

function longest(value: (numbers: Numbers) => number | undefined, unit: string) {
  return ({ verdicts }: Group): string => {
    const values = verdicts.flatMap(({ numbers }) => value(numbers) ?? []);
    return values.length > 0 ? `${Math.max(...values).toFixed(1)} ${unit}` : '–';
  };
}

function heldShare({ verdicts }: Group): string {
  const held = total(verdicts.map(({ numbers }) => numbers.heldShare * numbers.durationMs));
  const all = total(verdicts.map(({ numbers }) => numbers.durationMs));
  return all > 0 ? `${((100 * held) / all).toFixed(1)} %` : '–';
}

function milliseconds(value: number): string {
  return Math.abs(value) < 100 ? value.toFixed(2) : count(Math.round(value));
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
