import type { BackendHarness } from './harness.ts';
import { SafetyViolation } from './safety.ts';
import { Stage } from './stage.ts';

/** An optional member of the harness. */
export type Need =
  | 'evict'
  | 'traces'
  | 'together'
  | 'sharing'
  | 'eviction'
  | 'registers'
  | 'resumption'
  | 'queues';

/** A fact that is true of every backend. */
export interface Fact {
  /** The fact as a sentence in the present tense. */
  readonly title: string;
  /** Optional members of the harness that the check needs. */
  readonly needs: readonly Need[];
  /** Rejects if the fact does not hold for the backend. */
  check(harness: BackendHarness): Promise<void>;
}

/** Makes a fact from a scenario. A referee checks every admission, and everything is closed afterwards. */
export function fact(
  title: string,
  play: (stage: Stage) => Promise<void>,
  needs: readonly Need[] = [],
): Fact {
  return {
    title,
    needs,
    async check(harness) {
      const stage = new Stage(harness);
      const failure = await failureOf(play(stage));
      // Reports what the referee saw first, because a timeout is often only its consequence.
      const fault = await failureOf(stage.close());
      if (fault && failure) throw both(fault, failure);
      if (fault) throw fault;
      if (failure) throw failure;
    },
  };
}

function both(fault: Error, failure: Error): Error {
  const isUnsafe = [fault, failure].some((error) => error instanceof SafetyViolation);
  const message = `${fault.message}; then ${failure.message}`;
  return new (isUnsafe ? SafetyViolation : Error)(message, { cause: failure });
}

async function failureOf(promise: Promise<void>): Promise<Error | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
