/**
 * Reads statements that name tests. They are in features.json, and in tables of Markdown pages with a column
 * "tested by". The cells of that column have a link to the test file and the exact titles in quotes. In a
 * title, `…` replaces the values of a template.
 */

/**
 * Returns the text of a file, by its path relative to the page, or `undefined` when there is no such file.
 */
type ReadFile = (path: string) => string | undefined;

/** A cell of a table in a Markdown page. */
interface Statement {
  /** The text of the first cell in the same row. Error messages use it to name the row. */
  readonly about: string;
  readonly column: string;
  /** All column titles of the table to which the cell belongs. */
  readonly columns: readonly string[];
  readonly text: string;
  readonly cited: readonly Citation[];
}

interface Citation {
  readonly path: string;
  readonly titles: readonly string[];
}

const QUOTED = /"((?:\\"|[^"])+)"/g;
const CITED = /\[([^\]]+)\](?:\(([^)]+)\))?((?:,?\s*"(?:\\"|[^"])+")*)/g;
const TESTED_BY = 'tested by';

/** For each store, a pattern of test paths that cannot prove a feature of that store. */
const ELSEWHERE: Readonly<Record<string, RegExp>> = {
  memory: /etcd|zookeeper|integration\//,
  etcd: /zookeeper|(?:core|memory)\/test|recipes\/test\/[^/]*$/,
  ZooKeeper: /etcd|(?:core|memory)\/test|recipes\/test\/[^/]*$/,
};

/** Titles of tests by the path of their file. */
type Tests = Readonly<Record<string, readonly string[]>>;

/** The part of features.json that names tests. */
export interface FeatureData {
  readonly sections: readonly {
    readonly features: readonly {
      readonly feature: string;
      readonly state: 'yes' | 'partly' | 'no';
      readonly tests?: Tests;
    }[];
  }[];
  readonly scenarios: readonly {
    readonly scenario: string;
    readonly stores: Readonly<Record<string, { readonly tests: Tests } | { readonly none: string }>>;
  }[];
}

/**
 * Returns a description of each wrong statement in features.json, such as a test that does not exist. The
 * list is empty when nothing is wrong.
 */
export function findingsInData({ sections, scenarios }: FeatureData, read: ReadFile): string[] {
  const features = sections.flatMap((section) => section.features);
  return [
    ...features.flatMap(({ feature, state, tests = {} }) => {
      const isShown = state === 'no' || Object.keys(tests).length > 0;
      return [...(isShown ? [] : ['it names no test']), ...missing(tests, read)].map(
        (one) => `${feature}: ${one}`,
      );
    }),
    ...scenarios.flatMap(({ scenario, stores }) =>
      Object.entries(stores).flatMap(([store, shown]) =>
        'none' in shown
          ? []
          : wrongIn(store, shown.tests, read).map((one) => `${scenario}, ${store}: ${one}`),
      ),
    ),
  ];
}

/**
 * Returns how many tests features.json names. A caller checks that the number is large, which shows that the
 * tests were found in the file.
 */
export function countTests({ sections, scenarios }: FeatureData): number {
  const all = [
    ...sections.flatMap(({ features }) => features.map(({ tests = {} }) => tests)),
    ...scenarios.flatMap(({ stores }) =>
      Object.values(stores).map((shown) => ('none' in shown ? {} : shown.tests)),
    ),
  ];
  return all.flatMap((tests) => Object.values(tests).flat()).length;
}

function wrongIn(store: string, tests: Tests, read: ReadFile): string[] {
  const paths = Object.keys(tests);
  if (paths.length === 0) return ['it names no test'];
  const elsewhere = paths.filter((path) => ELSEWHERE[store]?.test(path));
  return [...elsewhere.map((path) => `${path} does not run there`), ...missing(tests, read)];
}

function missing(tests: Tests, read: ReadFile): string[] {
  return Object.entries(tests).flatMap(([path, titles]) => unkept({ path, titles }, read));
}

/**
 * Returns a description of each wrong statement on the page, such as a test that does not exist. The list is
 * empty when nothing is wrong.
 */
export function findingsIn(page: string, read: ReadFile): string[] {
  const unused = [...definitionsIn(page).keys()].filter((label) => !page.includes(`[${label}] `));
  return [
    ...unused.map((label) => `[${label}] is defined and not used`),
    ...statementsIn(page).flatMap((statement) =>
      faultsIn(statement, read).map((fault) => `${statement.about}, ${statement.column}: ${fault}`),
    ),
  ];
}

/** Returns how many tests the page names. */
export function countTitles(page: string): number {
  return statementsIn(page).flatMap(({ cited }) => cited.flatMap(({ titles }) => titles)).length;
}

function faultsIn(statement: Statement, read: ReadFile): string[] {
  const { text, cited } = statement;
  const rule = ruleFor(statement);
  if (!rule) return [];
  const stray = /"/.test(text.replace(CITED, '')) ? ['words in quotes follow no link'] : [];
  return [...rule(statement), ...stray, ...cited.flatMap((citation) => unkept(citation, read))];
}

/**
 * Returns the function that checks a cell. Only cells of the column "tested by" are checked: they must name
 * tests, or say why there are none.
 */
function ruleFor({ column, columns }: Statement): ((statement: Statement) => string[]) | undefined {
  return columns.includes(TESTED_BY) && column === TESTED_BY ? ofEvidence : undefined;
}

function ofEvidence({ text, cited }: Statement): string[] {
  if (/^not tested: ./.test(text)) return [];
  return cited.length === 0 ? ['it names no test, and does not say why there is none'] : [];
}

/** Returns the files and titles that are cited and do not exist. */
function unkept({ path, titles }: Citation, read: ReadFile): string[] {
  const source = read(path);
  if (source === undefined) return [`there is no file ${path}`];
  if (titles.length === 0) return [`no title follows ${path}`];
  return titles.filter((title) => !hasTest(source, title)).map((title) => `${path} has no test "${title}"`);
}

/**
 * Returns whether the source has a test of that title. The title is the first argument of a call other than
 * `skip`, `xit` and `xdescribe`, or the value of a property `title`.
 */
export function hasTest(source: string, title: string): boolean {
  const words = title.split('…').map(asPattern).join('\\$\\{(?:[^{}]|\\{[^{}]*\\})*\\}');
  const literal = `(['"\`])${words}\\1`;
  const uncommented = source.replace(/^\s*(?:\/\/|\*).*$/gm, '');
  return new RegExp(`(?:(?<!\\b(?:skip|xit|xdescribe))\\(|\\btitle:)\\s*${literal}`).test(uncommented);
}

/** Returns a pattern for the text as it occurs in a string literal with any kind of quotes. */
function asPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replace(/['"`]/g, '\\\\?$&');
}

function statementsIn(page: string): Statement[] {
  const defined = definitionsIn(page);
  return [...page.matchAll(/(?:^\|.*\n)+/gm)].flatMap(([table]) => {
    const [columns = [], , ...rows] = table.trimEnd().split('\n').map(cellsOf);
    return rows.flatMap((row) => {
      const about = row.find((text) => /[a-z]/i.test(text)) ?? '';
      return columns.map((column, at) => {
        const text = row[at] ?? '';
        return { about, column, columns, text, cited: citationsIn(text, defined) };
      });
    });
  });
}

/**
 * Returns the tests that a cell cites. Links to headings and to other pages are left out, since they are no
 * evidence.
 */
function citationsIn(text: string, defined: ReadonlyMap<string, string>): Citation[] {
  return [...text.matchAll(CITED)].flatMap(([, label = '', target, quoted = '']) => {
    const path = target ?? defined.get(label) ?? `[${label}], which is not defined`;
    if (/^#|\.md(?:#|$)/.test(path)) return [];
    const titles = [...quoted.matchAll(QUOTED)].map(([, title = '']) => title.replaceAll('\\"', '"'));
    return [{ path, titles }];
  });
}

function definitionsIn(page: string): ReadonlyMap<string, string> {
  return new Map(
    [...page.matchAll(/^\[([^\]]+)\]: (\S+)$/gm)].map(([, label = '', path = '']) => [label, path]),
  );
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}
