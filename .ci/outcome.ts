import type { ConformanceResult } from './conformance-table.ts';

export interface TestName {
  /** Empty for what happened outside of all files. */
  readonly file: string;
  readonly title: string;
}

export interface Failure extends TestName {
  readonly cause: string;
  /** A promise about exclusion, order or tokens was broken: no second run makes up for that. */
  readonly isUnsafe: boolean;
  /** Of a hook: the title of its suite, the rest of which never ran. */
  readonly suite?: string;
}

/** What came of one process of mocha. */
export interface Outcome {
  readonly passed: readonly TestName[];
  readonly failures: readonly Failure[];
  readonly skipped: readonly (TestName & { readonly reason: string })[];
  readonly conformance: readonly ConformanceResult[];
  /** How long each outermost suite took, its hooks included. */
  readonly took: readonly { readonly file: string; readonly ms: number }[];
}

/** An outcome in which some failures were asked a second time. */
export interface Settled extends Outcome {
  /** Failed once, and passed when run by themselves. */
  readonly flaky: readonly Failure[];
}

/** One test that fails now and then may have met a busy machine; more of them are a pattern. */
export const MOST_FLAKY = 3;

export const NOTHING: Settled = {
  passed: [],
  failures: [],
  skipped: [],
  conformance: [],
  took: [],
  flaky: [],
};

/** The outcome of a run without test results. */
export function broken(cause: string): Outcome {
  return { ...NOTHING, failures: [{ file: '', title: cause, cause: '', isUnsafe: false }] };
}

export function sum(outcomes: readonly Outcome[]): Outcome {
  return {
    passed: outcomes.flatMap(({ passed }) => passed),
    failures: outcomes.flatMap(({ failures }) => failures),
    skipped: outcomes.flatMap(({ skipped }) => skipped),
    conformance: outcomes.flatMap(({ conformance }) => conformance),
    took: outcomes.flatMap(({ took }) => took),
  };
}

/** The failures that are worth a second run: of tests, not about safety, and few. */
export function askedAgain({ failures }: Outcome): readonly Failure[] {
  const forgivable = failures.every(({ file, isUnsafe }) => file !== '' && !isUnsafe);
  return forgivable && failures.length <= MOST_FLAKY ? failures : [];
}

/** The pattern of the titles that a failure is about. */
export function titlesOf({ title, suite }: Failure): string {
  const literal = (suite ?? title).replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  return suite === undefined ? `^${literal}$` : `^${literal} `;
}

/** What is known after a failed test has been run by itself. */
export function settle(known: Settled, failure: Failure, again: Outcome): Settled {
  if (again.failures.length > 0 || again.passed.length === 0) {
    const causes = [
      failure.cause,
      'and when it was run by itself:',
      ...again.failures.map(({ cause }) => cause),
    ];
    const twice = {
      ...failure,
      cause: causes.join('\n'),
      isUnsafe: again.failures.some(({ isUnsafe }) => isUnsafe),
    };
    return { ...known, failures: known.failures.map((one) => (one === failure ? twice : one)) };
  }
  const before = new Set(known.passed.map(keyOf));
  const answered = new Set(again.conformance.map(factOf));
  return {
    passed: [...known.passed, ...again.passed.filter((test) => !before.has(keyOf(test)))],
    failures: known.failures.filter((one) => one !== failure),
    skipped: known.skipped,
    conformance: [
      ...known.conformance.filter((result) => !answered.has(factOf(result))),
      ...again.conformance,
    ],
    took: [...known.took, ...again.took],
    flaky: [...known.flaky, failure],
  };
}

function keyOf({ file, title }: TestName): string {
  return `${file}\n${title}`;
}

function factOf({ backend, title }: ConformanceResult): string {
  return `${backend}\n${title}`;
}
