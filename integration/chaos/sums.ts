// Sums of several runs of `pnpm chaos`, kept in a file with one line for each run.
import { appendFile, readFile } from 'node:fs/promises';
import type { Verdict } from '@queuelock/harness/check';
import { isUnsafe } from '@queuelock/harness/check/finding';
import type { Table } from './table.ts';

/** The numbers of one run on one store, which are added to the sums. */
export interface RunSums {
  /**
   * Store with its version and number of servers, for instance `redis 7.0.15`. The numbers of runs with the
   * same text are added up.
   */
  readonly servers: string;
  readonly seed: number;
  readonly minutes: number;
  readonly holds: number;
  readonly faults: number;
  /** Number of violations of exclusion, order or tokens. */
  readonly unsafe: number;
  /** Number of violations of all rules of the checker, including exclusion, order and tokens. */
  readonly violations: number;
}

const NUMBERS = ['seed', 'minutes', 'holds', 'faults', 'unsafe', 'violations'] as const;
const SHOWN = [
  'runs',
  'minutes',
  'holds checked',
  'faults',
  'violations of safety',
  'other violations',
] as const;

/** Adds up the verdicts on all histories of one run. */
export function sumsOf(
  verdicts: readonly Verdict[],
  { servers, seed }: Pick<RunSums, 'servers' | 'seed'>,
): RunSums {
  const findings = verdicts.flatMap((verdict) => verdict.findings);
  const sum = (amount: (verdict: Verdict) => number): number =>
    verdicts.reduce((total, verdict) => total + amount(verdict), 0);
  return {
    servers,
    seed,
    minutes: Math.round(sum(({ numbers }) => numbers.durationMs) / 6_000) / 10,
    holds: sum(({ numbers }) => numbers.holds),
    faults: sum(({ numbers }) => Object.values(numbers.faults).reduce((total, count) => total + count, 0)),
    unsafe: findings.filter(isUnsafe).length,
    violations: findings.length,
  };
}

/** Appends a run to the file, which is created if it does not exist. */
export async function addToSums(file: string, run: RunSums): Promise<void> {
  await appendFile(file, `${JSON.stringify(run)}\n`);
}

/**
 * Reads all runs of a file.
 * @throws TypeError if a line is not a run. The message names the file and the line.
 */
export async function readSums(file: string): Promise<readonly RunSums[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map(
    (line, index) => runIn(line) ?? fail(`${file}: line ${index + 1} is no run of pnpm chaos`),
  );
}

/**
 * Returns the table of all runs. It has a column for each kind of servers, with the sums of the numbers of
 * its runs.
 */
export function sumsTable(runs: readonly RunSums[]): Table {
  const columns = [...new Set(runs.map(({ servers }) => servers))];
  const groups = columns.map((column) => runs.filter(({ servers }) => servers === column));
  const cells: Readonly<Record<(typeof SHOWN)[number], (group: readonly RunSums[]) => number>> = {
    runs: (group) => group.length,
    minutes: (group) => Math.round(total(group, 'minutes')),
    'holds checked': (group) => total(group, 'holds'),
    faults: (group) => total(group, 'faults'),
    'violations of safety': (group) => total(group, 'unsafe'),
    'other violations': (group) => total(group, 'violations') - total(group, 'unsafe'),
  };
  const rows = SHOWN.map((name) => ({
    name,
    cells: groups.map((group) => cells[name](group).toLocaleString('en')),
  }));
  return { columns, rows };
}

function total(runs: readonly RunSums[], key: (typeof NUMBERS)[number]): number {
  return runs.reduce((sum, run) => sum + run[key], 0);
}

function runIn(line: string): RunSums | undefined {
  try {
    const run = JSON.parse(line) as Partial<RunSums> | null;
    const isRun = typeof run?.servers === 'string' && NUMBERS.every((key) => Number.isFinite(run[key]));
    return isRun ? (run as RunSums) : undefined;
  } catch {
    return undefined;
  }
}

function fail(message: string): never {
  throw new TypeError(message);
}
