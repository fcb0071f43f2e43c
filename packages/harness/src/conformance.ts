import { facts, factsWithTitles, type BackendHarness } from '@queuelock/conformance';

/**
 * The conformance tests in which a special configuration of a backend, such as another naming, may differ from
 * the default configuration.
 */
interface Apart {
  /**
   * Returns whether the special configuration may reject the first call of a conformance test with this
   * error.
   */
  readonly refuses: (error: Error) => boolean;
  /**
   * Titles of conformance tests that fail on the special configuration although it supports each of their
   * calls. These tests are not run.
   */
  readonly contradicts?: ReadonlySet<string>;
}

const LANES = 4;

/**
 * Runs all conformance tests: each one passes, or its first call is rejected as unsupported. Several tests
 * run at the same time, because a test mostly waits and leaves the server idle.
 */
export function describeWhatApplies(harness: BackendHarness, { refuses, contradicts }: Apart): void {
  describe(`${harness.name} passes every conformance test that it does not refuse`, function () {
    this.timeout(120_000);
    const omitted = factsWithTitles(...(contradicts ?? []));
    const requested = facts.filter((fact) => !omitted.includes(fact));
    const failures = new Map<string, Promise<Error | undefined>>();
    before(() => {
      const lanes = Array.from({ length: LANES }, () => Promise.resolve());
      requested.forEach((fact, place) => {
        const before = lanes[place % LANES]!;
        const failure = before.then(() => fact.check(harness)).then(none, errorOf);
        lanes[place % LANES] = failure.then(none);
        failures.set(fact.title, failure);
      });
    });
    for (const { title } of requested) {
      it(title, async () => {
        const failure = await failures.get(title);
        if (failure !== undefined && !refuses(failure)) throw failure;
      });
    }
  });
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function none(): undefined {
  return undefined;
}
