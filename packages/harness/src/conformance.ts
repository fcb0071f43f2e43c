import { facts, type BackendHarness } from '@queuelock/conformance';

/** The differences of a special use of a backend. */
interface Apart {
  /** Returns whether an error is the refusal of the first step of a fact. */
  readonly refuses: (error: Error) => boolean;
  /** Titles of facts that this use contradicts without refusing anything. */
  readonly contradicts?: ReadonlySet<string>;
}

const LANES = 4;

/**
 * Checks all facts: each holds, or its first step is refused. Several are checked at a time, because most of the time they wait for an idle server.
 */
export function describeWhatApplies(harness: BackendHarness, { refuses, contradicts }: Apart): void {
  describe(`${harness.name} keeps every fact that it does not refuse`, function () {
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
