import type { ConformanceResult } from './conformance-table.ts';

export interface TestName {
  /** Path of the test file; empty for a failure that belongs to no file. */
  readonly file: string;
  readonly title: string;
}

export interface Failure extends TestName {
  readonly cause: string;
  /** Whether a guarantee of exclusion, order or tokens was broken. Such a failure is never run again. */
  readonly isUnsafe: boolean;
  /** Set for a failed hook: the title of its suite, whose remaining tests never ran. */
  readonly suite?: string;
}

/** The outcome of one mocha process. */
export interface Outcome {
  readonly passed: readonly TestName[];
  readonly failures: readonly Failure[];
  readonly skipped: readonly (TestName & { readonly reason: string })[];
  readonly conformance: readonly ConformanceResult[];
  /** Duration of each outermost suite, its hooks included. */
  readonly took: readonly { readonly file: string; readonly ms: number }[];
}

/** The outcome of a test run, after each of a few failed tests was run once more. */
export interface Settled extends Outcome {
  /** Tests that failed once, and passed when they were run alone. */
  readonly flaky: readonly Failure[];
}

/**
 * Largest number of failed tests that are run again. A few failures may be caused by a busy machine, and more
 * of them by a defect.
 */
export const MOST_FLAKY = 3;

export const NOTHING: Settled = {
  passed: [],
  failures: [],
  skipped: [],
  conformance: [],
  took: [],
  flaky: [],
};

/** Returns the outcome of a run that has no test results. */
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

/**
 * Returns the failed tests to run again. Returns none if many failed, if a failure belongs to no test file,
 * or if a guarantee of exclusion, order or tokens was broken.
 */
export function toRunAgain({ failures }: Outcome): readonly Failure[] {
  const forgivable = failures.every(({ file, isUnsafe }) => file !== '' && !isUnsafe);
  return forgivable && failures.length <= MOST_FLAKY ? failures : [];
}

/** Returns a pattern that matches the failed test, or all tests of the suite whose hook failed. */
export function titlesOf({ title, suite }: Failure): string {
  const literal = (suite ?? title).replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  return suite === undefined ? `^${literal}$` : `^${literal} `;
}

/** Returns the outcome after a failed test was run alone. */
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
