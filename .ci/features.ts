/**
 * Writes two pages from packages/features.json: packages/FEATURES.md, a comparison on one screen, and
 * packages/EVIDENCE.md, which lists the tests of every feature. Without --update it checks that both pages
 * agree with the data.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const DATA = 'packages/features.json';
const SCREEN = 'packages/FEATURES.md';
const EVIDENCE = 'packages/EVIDENCE.md';
const BEGIN = '<!-- features: written by .ci/features.ts -->\n';
const END = '<!-- features: end -->';
/** Title of the section of features.json that lists the features which only queuelock has. */
const UNIQUE = 'What no other tool has';
/**
 * Largest number of tool names in one cell of the table. For more tools, the cell shows only their number.
 */
const MAX_NAMES = 4;

/** Titles of tests, by the path of their file relative to packages/. */
type Tests = Readonly<Record<string, readonly string[]>>;

interface Feature {
  readonly feature: string;
  readonly state: 'yes' | 'partly' | 'no';
  readonly isOnScreen?: boolean;
  readonly note?: string;
  readonly tests?: Tests;
  /**
   * What each compared tool offers: `Y` has the feature, `P` has it partly, `-` lacks it, `n/a` has no use
   * for it, `?` was not checked.
   */
  readonly peers?: Readonly<Record<string, 'Y' | 'P' | '-' | 'n/a' | '?'>>;
}

interface Features {
  readonly peers: Readonly<Record<string, { readonly what: string; readonly read: string }>>;
  readonly sections: readonly {
    readonly title: string;
    readonly features: readonly Feature[];
    readonly notes?: readonly string[];
  }[];
  readonly scenarios: readonly {
    readonly scenario: string;
    readonly stores: Readonly<Record<string, { readonly none: string } | { readonly tests: Tests }>>;
  }[];
}

const features = JSON.parse(readFileSync(DATA, 'utf8')) as Features;

function peersWith(feature: Feature): string {
  const having = (state: string): string[] =>
    Object.entries(feature.peers ?? {}).flatMap(([name, has]) => (has === state ? [name] : []));
  const [full, part] = [having('Y'), having('P')];
  if (full.length + part.length === 0) return 'none';
  if (full.length > MAX_NAMES) return `${full.length} of ${Object.keys(features.peers).length}`;
  const partly = part.length > MAX_NAMES ? `${part.length} others` : part.join(', ');
  return [full.join(', '), part.length > 0 ? `partly ${partly}` : ''].filter(Boolean).join('; ');
}

function screen(): string {
  const all = features.sections.flatMap((section) => section.features);
  const rows = all
    .filter(({ isOnScreen }) => isOnScreen)
    .map((feature) => `| ${feature.feature} | ${feature.state} | ${peersWith(feature)} |`);
  const unique = features.sections.find(({ title }) => title === UNIQUE)?.features ?? [];
  const ours = unique.map(({ feature, state }) => `- ${feature}${state === 'yes' ? '' : `: ${state}`}`);
  return [
    '| Feature | queuelock | other tools |',
    '| --- | --- | --- |',
    ...rows,
    '',
    'No other tool of the list has these:',
    '',
    ...ours,
    '',
  ].join('\n');
}

function testLines(tests: Tests = {}): string[] {
  return Object.entries(tests).flatMap(([file, titles]) =>
    titles.map((title) => `- [${file.replace(/^\.\.\//, '')}](${file}): ${title}`),
  );
}

function evidence(): string {
  const { peers, sections, scenarios } = features;
  return [
    '# Evidence',
    '',
    'Every feature of queuelock with the tests that show it, and which other tools have it. Written by `.ci/features.ts` from [features.json](features.json);',
    'a test checks that each named test exists. In a title, `…` stands for what the test fills in.',
    '',
    '## How to read it',
    '',
    '- Files under `conformance/` run on every store; files under `recipes/test/facts/` on memory, etcd and ZooKeeper, and in the long run on Redis, PostgreSQL, MariaDB and Consul.',
    '- `*.test.ts` runs with `pnpm test`, `*.long.ts` with `pnpm test:long`.',
    '- The other tools were read, mostly from source, at the versions below. Nothing that is said of them was run.',
    '',
    '| tool | what | read |',
    '| --- | --- | --- |',
    ...Object.entries(peers).map(([name, { what, read }]) => `| ${name} | ${what} | ${read} |`),
    '',
    ...sections.flatMap(({ title, features: rows, notes = [] }) => [
      `## ${title}`,
      '',
      ...rows.flatMap((feature) => [
        `### ${feature.feature}`,
        '',
        `queuelock: ${feature.state}.${feature.note === undefined ? '' : ` ${feature.note}`}`,
        ...(feature.peers ? [`Other tools: ${peersWith(feature)}.`] : []),
        '',
        ...testLines(feature.tests),
        '',
      ]),
      ...(notes.length > 0 ? ['Notes on other tools:', '', ...notes.map((note) => `- ${note}`), ''] : []),
    ]),
    '## Scenarios that some tool fails',
    '',
    'By its own reports, or by reading it.',
    '',
    ...scenarios.flatMap(({ scenario, stores }) => [
      `### ${scenario}`,
      '',
      ...Object.entries(stores).flatMap(([store, shown]) =>
        'none' in shown
          ? [`- ${store}: does not apply. ${shown.none}.`]
          : testLines(shown.tests).map((line) => line.replace('- ', `- ${store}: `)),
      ),
      '',
    ]),
  ].join('\n');
}

/** Removes the padding of table cells, because the formatter adds it. */
function unpadded(text: string): string {
  return text.replace(/ +/g, ' ').replace(/-{2,}/g, '-');
}

const page = readFileSync(SCREEN, 'utf8');
const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
if (from < BEGIN.length || to < from) throw new Error(`${SCREEN} has no place for the comparison`);
const pages = { [SCREEN]: `${page.slice(0, from)}\n${screen()}\n${page.slice(to)}`, [EVIDENCE]: evidence() };
for (const [path, text] of Object.entries(pages)) {
  if (process.argv.includes('--update')) writeFileSync(path, text);
  else if (unpadded(readFileSync(path, 'utf8')) !== unpadded(text)) {
    console.error(`${path} does not agree with ${DATA}. Run pnpm features.`);
    process.exitCode = 1;
  }
}
