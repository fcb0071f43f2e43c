/** The result of one test of the conformance suite on one backend. */
export interface ConformanceResult {
  readonly backend: string;
  readonly title: string;
  readonly state: 'passed' | 'failed' | 'skipped';
}

const SIGN = { passed: '✔', failed: '✘', skipped: '–' } as const;

/**
 * Returns a text table of the conformance suite with a row for each test and a column for each backend.
 * `uneven` lists the tests that did not run on every backend.
 */
export function conformanceTable(results: readonly ConformanceResult[]): {
  readonly lines: readonly string[];
  readonly uneven: readonly string[];
} {
  const backends = [...new Set(results.map(({ backend }) => backend))];
  const titles = [...new Set(results.map(({ title }) => title))];
  if (backends.length === 0) return { lines: [], uneven: [] };
  const byPlace = new Map(results.map((result) => [`${result.backend}\n${result.title}`, result.state]));
  const signsOf = (title: string): string[] =>
    backends.map((backend) => {
      const state = byPlace.get(`${backend}\n${title}`);
      return state ? SIGN[state] : ' ';
    });
  const facts = titles.map((title) => `  ${signsOf(title).join('  ')}  ${title}`);
  const columns = backends.map((backend, n) => `  ${'│  '.repeat(n)}┌─ ${backend}`).reverse();
  return {
    lines: ['', `Conformance: ${String(titles.length)} facts, side by side`, ...columns, ...facts],
    uneven: titles.filter((title) => signsOf(title).includes(' ')),
  };
}
