import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Result of one subtest of testharness.js. */
export interface SubtestResult {
  readonly name: string;
  /** Error of the subtest; `undefined` when it passed. */
  readonly failure?: string;
}

type Cleanup = () => unknown;

/** The object that testharness.js passes to the function of a subtest. */
interface Subtest {
  readonly name: string;
  add_cleanup(cleanup: Cleanup): void;
  step_timeout(task: () => void, ms: number): void;
  unreached_func(description: string): () => never;
}

class AssertionFailed extends Error {}

/** The functions of testharness.js that the test files of locks call. */
export class Harness {
  readonly #subtests: (() => Promise<SubtestResult>)[] = [];
  readonly #subtestMs: number;
  #allowsUncaught = false;

  constructor(subtestMs: number) {
    this.#subtestMs = subtestMs;
  }

  /** The global functions of testharness.js that the scripts of a test file call. */
  readonly globals: Readonly<Record<string, unknown>> = {
    setup: (settings: { readonly allow_uncaught_exception?: boolean }) =>
      (this.#allowsUncaught = settings.allow_uncaught_exception ?? false),
    promise_test: (work: (t: Subtest) => unknown, name: string) => {
      this.#subtests.push(() => this.#perform(name, work));
    },
    ...ASSERTIONS,
  };

  /** Runs the subtests that the scripts have defined, one after another. */
  async run(): Promise<readonly SubtestResult[]> {
    const results: SubtestResult[] = [];
    const uncaught: string[] = [];
    process.on('unhandledRejection', (reason) => uncaught.push(inspect(reason)));
    for (const subtest of this.#subtests) {
      const result = await subtest();
      // Waits for the end of the present iteration of the event loop, when Node reports unhandled rejections.
      await pause(0);
      const [failure] = this.#allowsUncaught ? [] : uncaught.splice(0);
      results.push(failure === undefined ? result : { ...result, failure: `nobody caught ${failure}` });
    }
    return results;
  }

  async #perform(name: string, work: (t: Subtest) => unknown): Promise<SubtestResult> {
    const cleanups: Cleanup[] = [];
    let fail!: (error: Error) => void;
    const failed = new Promise<never>((_, reject) => (fail = reject));
    const timer = setTimeout(
      () => fail(new Error(`it takes longer than ${this.#subtestMs} ms`)),
      this.#subtestMs,
    );
    const subtest: Subtest = {
      name,
      add_cleanup: (cleanup) => void cleanups.push(cleanup),
      step_timeout: (task, ms) => void setTimeout(task, ms),
      unreached_func: (description) => () => {
        const error = new AssertionFailed(`it was reached: ${description}`);
        fail(error);
        throw error;
      },
    };
    const act = async (): Promise<void> => {
      await work(subtest);
      for (const cleanup of cleanups.splice(0)) await cleanup();
    };
    try {
      await Promise.race([act(), failed]);
      return { name };
    } catch (error) {
      for (const cleanup of cleanups) void Promise.resolve(cleanup()).catch(() => undefined);
      return { name, failure: error instanceof Error ? (error.stack ?? error.message) : inspect(error) };
    } finally {
      clearTimeout(timer);
    }
  }
}

function claim(holds: boolean, text: string, description = ''): void {
  if (!holds) throw new AssertionFailed(`${description}: ${text}`);
}

function isSame(a: unknown, b: unknown): boolean {
  return Object.is(a, b);
}

/**
 * Resolves with the reason of the promise's rejection. The reason is wrapped in an object, because a promise
 * would take a reason with a method `then` for a promise.
 */
async function rejectionOf(promise: Promise<unknown>): Promise<{ readonly reason: unknown }> {
  const end = await promise.then(
    (answer) => ({ answer }),
    (reason: unknown) => ({ reason }),
  );
  if ('reason' in end) return end;
  throw new AssertionFailed(`it rejects; got ${inspect(end.answer)}`);
}

const ASSERTIONS = {
  assert_true: (value: unknown, description?: string) =>
    claim(value === true, `it is true; got ${inspect(value)}`, description),
  assert_false: (value: unknown, description?: string) =>
    claim(value === false, `it is false; got ${inspect(value)}`, description),
  assert_equals: (actual: unknown, expected: unknown, description?: string) =>
    claim(isSame(actual, expected), `it is ${inspect(expected)}; got ${inspect(actual)}`, description),
  assert_not_equals: (actual: unknown, other: unknown, description?: string) =>
    claim(!isSame(actual, other), `it is not ${inspect(other)}`, description),
  assert_array_equals(actual: unknown[], expected: unknown[], description?: string) {
    const alike = actual.length === expected.length && actual.every((item, at) => isSame(item, expected[at]));
    claim(alike, `they are ${inspect(expected)}; got ${inspect(actual)}`, description);
  },
  assert_own_property: (object: object, property: string, description?: string) =>
    claim(Object.hasOwn(object, property), `it has a property ${property} of its own`, description),
  assert_implements: (value: unknown, description?: string) =>
    claim(Boolean(value), 'it is there', description),
  assert_unreached: (description?: string) => claim(false, 'it is not reached', description),
  async promise_rejects_js(
    _t: Subtest,
    kind: ErrorConstructor,
    promise: Promise<unknown>,
    description?: string,
  ): Promise<void> {
    const { reason } = await rejectionOf(promise);
    const isOfKind = reason instanceof kind && reason.constructor === kind && reason.name === kind.name;
    claim(isOfKind, `it is a ${kind.name}; got ${inspect(reason)}`, description);
  },
  async promise_rejects_dom(
    _t: Subtest,
    name: string,
    promise: Promise<unknown>,
    description?: string,
  ): Promise<void> {
    const { reason } = await rejectionOf(promise);
    const isOfName = reason instanceof DOMException && reason.name === name;
    claim(isOfName, `it is a DOMException ${name}; got ${inspect(reason)}`, description);
  },
  async promise_rejects_exactly(
    _t: Subtest,
    expected: unknown,
    promise: Promise<unknown>,
    description?: string,
  ): Promise<void> {
    const { reason } = await rejectionOf(promise);
    claim(
      isSame(reason, expected),
      `it is exactly ${inspect(expected)}; got ${inspect(reason)}`,
      description,
    );
  },
};
