import { readFileSync, writeFileSync } from 'node:fs';
import type { Rule } from '../src/run/rule.ts';
import type { StoreName } from '../src/run/plan.ts';

/** How a mutant was last detected: the number of simulated runs from seed 1 on, and the violated rule. */
export interface KilledMutant {
  readonly runs: number;
  readonly rule: Rule;
}

type Table = Readonly<Record<StoreName, Readonly<Record<string, KilledMutant>>>>;

const FILE = new URL('mutants/killed.json', import.meta.url);

/** Reads the table in `mutants/killed.json`: for each mutant, how it was last detected. */
export function killedMutants(): Table {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Table;
}

/** Updates the given entries of `mutants/killed.json` for one store, and keeps all other entries. */
export function writeKilledMutants(store: StoreName, entries: ReadonlyMap<string, KilledMutant>): void {
  const table = killedMutants();
  writeFileSync(FILE, textOf({ ...table, [store]: { ...table[store], ...Object.fromEntries(entries) } }));
}

/** Formats the table of killed mutants with one line for each mutant, as oxfmt does. */
function textOf(table: Table): string {
  const stores = Object.entries(table).map(([store, entries]) => {
    const lines = Object.entries(entries).map(
      ([what, { runs, rule }]) =>
        `    ${JSON.stringify(what)}: { "runs": ${runs}, "rule": ${JSON.stringify(rule)} }`,
    );
    return `  ${JSON.stringify(store)}: {\n${lines.join(',\n')}\n  }`;
  });
  return `{\n${stores.join(',\n')}\n}\n`;
}
