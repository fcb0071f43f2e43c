import { readFileSync, writeFileSync } from 'node:fs';
import type { Rule } from '../src/run/judge.ts';
import type { StoreName } from '../src/run/plan.ts';

/** How many runs it took when a mutant was hunted last, from seed 1 on, and the rule that noticed it. */
export interface KilledMutant {
  readonly runs: number;
  readonly rule: Rule;
}

type Table = Readonly<Record<StoreName, Readonly<Record<string, KilledMutant>>>>;

const FILE = new URL('mutants/killed.json', import.meta.url);

/** By what the mutants are. */
export function killedMutants(): Table {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Table;
}

/** Puts these into the table, the rest of which stays. */
export function writeKilledMutants(store: StoreName, entries: ReadonlyMap<string, KilledMutant>): void {
  const table = killedMutants();
  writeFileSync(FILE, textOf({ ...table, [store]: { ...table[store], ...Object.fromEntries(entries) } }));
}

/** One line for each, as Prettier has it. */
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
