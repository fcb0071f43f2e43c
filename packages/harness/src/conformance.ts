import { facts, type BackendHarness } from '@queuelock/conformance';

/** States in which ways a special use of a backend may differ from its usual use. */
interface Apart {
  /** Returns whether an error is the expected refusal of the first call of a conformance test. */
  readonly refuses: (error: Error) => boolean;
  /** Titles of conformance tests that this use does not pass, although it refuses no call. */
  readonly contradicts?: ReadonlySet<string>;
}

const LANES = 4;

/**
 * Runs all conformance tests: each passes, or its first call is refused. Several run at a time, because most
 * of the time they wait for an idle server.
 */
export function describeWhatApplies(harness: BackendHarness, { refuses, contradicts }: Apart): void {
  describe(`${harness.name} passes every conformance test that it does not refuse`, function () {
    this.timeout(120_000);
    const asked = facts.filter(({ title }) => !contradicts?.has(title));
    const failures = new Map<string, Promise<Error | undefined>>();
    before(() => {
      const lanes = Array.from({ length: LANES }, () => Promise.resolve());
      asked.forEach((fact, place) => {
        const before = lanes[place % LANES]!;
        const failure = before.then(() => fact.check(harness)).then(none, errorOf);
        lanes[place % LANES] = failure.then(none);
        failures.set(fact.title, failure);
      });
    });
    for (const { title } of asked) {
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
