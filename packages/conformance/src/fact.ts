import type { BackendHarness } from './harness.ts';
import { SafetyViolation } from './safety.ts';
import { Stage } from './stage.ts';

/** The name of an optional member of the harness, or of a group of them. */
export type Need =
  | 'evict'
  | 'traces'
  | 'together'
  | 'sharing'
  | 'eviction'
  | 'registers'
  | 'resumption'
  | 'queues';

/** A fact: a statement that is true of every correct backend, with a check. */
export interface Fact {
  /** What is true of a backend, as a sentence in the present tense. */
  readonly title: string;
  /** Optional members of the harness that the check needs. */
  readonly needs: readonly Need[];
  /** Rejects if `title` is not true of the harness's backend. */
  check(harness: BackendHarness): Promise<void>;
}

/**
 * Makes a fact from a function that runs a scenario. While it runs, a referee checks every admission.
 * Afterwards all sessions and connections are closed.
 */
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
      // Reports forbidden admissions, which the referee has found, before the error of the scenario. A timeout
      // of the scenario is often only their consequence.
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
