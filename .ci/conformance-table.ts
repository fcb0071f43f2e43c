/** How one fact of the conformance suite came out on one backend. */
export interface ConformanceResult {
  readonly backend: string;
  readonly title: string;
  readonly state: 'passed' | 'failed' | 'skipped';
}

const SIGN = { passed: '✔', failed: '✘', skipped: '–' } as const;

/** The suite side by side, a line for each fact; `uneven` are the facts that some backend was not asked. */
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
