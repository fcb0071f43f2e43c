/**
 * Reads a page of features: Markdown tables whose statements name the tests that show them. Each names a link to the test file
 * and the exact titles in quotes, in which `…` stands for what a template fills in. Tables with a column "queuelock" compare it
 * with others, those with a column "memory" are by store, and in those with a column "tested by" that column has the tests. Other
 * tables are ignored.
 */

/** Returns the text of a file by its path relative to the page; `undefined` when there is none. */
type ReadFile = (path: string) => string | undefined;

/** A cell of a table. */
interface Statement {
  /** The first words of its row. */
  readonly about: string;
  readonly column: string;
  /** All columns of the table. */
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
const PEER = /^(?:Y|P|-|n\/a|\?)$/;

/** Patterns of the test files of other stores. */
const ELSEWHERE: Readonly<Record<string, RegExp>> = {
  memory: /etcd|zookeeper|integration\//,
  etcd: /zookeeper|(?:core|memory)\/test|recipes\/test\/[^/]*$/,
  ZooKeeper: /etcd|(?:core|memory)\/test|recipes\/test\/[^/]*$/,
};

/** Returns the faults of the page as texts; none if it is correct. */
export function findingsIn(page: string, read: ReadFile): string[] {
  const unused = [...definitionsIn(page).keys()].filter((label) => !page.includes(`[${label}] `));
  return [
    ...unused.map((label) => `[${label}] is defined and not used`),
    ...statementsIn(page).flatMap((statement) =>
      faultsIn(statement, read).map((fault) => `${statement.about}, ${statement.column}: ${fault}`),
    ),
  ];
}

/** Returns the number of tests that the page names. */
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

/** Returns the rule of a cell; `undefined` for cells that name the row. */
function ruleFor({ column, columns }: Statement): ((statement: Statement) => string[]) | undefined {
  if (columns.includes(TESTED_BY)) return column === TESTED_BY ? ofEvidence : undefined;
  if (column === columns[0] || column === 'Feature') return undefined;
  if (columns.includes('memory')) return ofStore;
  if (!columns.includes('queuelock')) return undefined;
  return column === 'queuelock' ? ofVerdict : ofPeer;
}

function ofEvidence({ text, cited }: Statement): string[] {
  if (/^not tested: ./.test(text)) return [];
  return cited.length === 0 ? ['it names no test, and does not say why there is none'] : [];
}

function ofPeer({ text }: Statement): string[] {
  return PEER.test(text) ? [] : [`"${text}" is none of Y, P, -, n/a, ?`];
}

function ofVerdict({ text, cited }: Statement): string[] {
  if (/^no: ./.test(text)) return [];
  if (!/^(?:yes|partly): ./.test(text)) return ['it is none of "yes: …", "partly: …", "no: …"'];
  return cited.length === 0 ? ['it names no test'] : [];
}

function ofStore({ text, cited, column }: Statement): string[] {
  if (/^n\/a: ./.test(text)) return [];
  if (cited.length === 0) return ['it names no test, and does not say why there is none'];
  const elsewhere = cited.filter(({ path }) => ELSEWHERE[column]?.test(path));
  return elsewhere.map(({ path }) => `${path} does not run there`);
}

/** Returns named tests that do not exist. */
function unkept({ path, titles }: Citation, read: ReadFile): string[] {
  const source = read(path);
  if (source === undefined) return [`there is no file ${path}`];
  if (titles.length === 0) return [`no title follows ${path}`];
  return titles.filter((title) => !hasTest(source, title)).map((title) => `${path} has no test "${title}"`);
}

/** Returns whether the source has a test of that title: the first argument of a call that skips nothing, or a `title`. */
export function hasTest(source: string, title: string): boolean {
  const words = title.split('…').map(asPattern).join('\\$\\{(?:[^{}]|\\{[^{}]*\\})*\\}');
  const literal = `(['"\`])${words}\\1`;
  const uncommented = source.replace(/^\s*(?:\/\/|\*).*$/gm, '');
  return new RegExp(`(?:(?<!\\b(?:skip|xit|xdescribe))\\(|\\btitle:)\\s*${literal}`).test(uncommented);
}

/** Returns a pattern for literals of any kind of quotes. */
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

/** Returns the citations; links within the page and to other pages prove nothing and are ignored. */
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
