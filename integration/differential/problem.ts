import type { Finding } from '@queuelock/harness/check/finding';
import type { History } from './history.ts';
import { textOf, type Step } from './step.ts';
import type { Store } from './store.ts';

/**
 * How long in milliseconds a holder may believe that it holds after its entry was removed. It learns of the
 * removal by a notification or its next heartbeat, and the machine may be busy.
 */
const NOTICED_WITHIN_MS = 5_000;

/** A difference between the states of a store and of the memory backend, or a violation of a rule. */
export interface Problem {
  /**
   * The rule that was broken. `state`: the store reaches the same state as the memory backend. `call`: no
   * call is rejected. In the racing mode, `quiet`: all claims end; `outcome`: each claim ends in an expected
   * way. All others are rules of the harness's checker.
   */
  readonly rule: 'state' | 'quiet' | 'outcome' | 'call' | Finding['rule'];
  readonly detail: string;
}

/** Returns the violations that the checker finds in the history of a run. */
export function violationsOf(
  history: History,
  { noticedWithinMs = NOTICED_WITHIN_MS }: Store,
): readonly Problem[] {
  return history.judge(noticedWithinMs).map(({ rule, message }) => ({ rule, detail: message }));
}

/** Describes the parts of two states that differ. */
export function differenceOf(
  step: Step,
  expected: ReadonlyMap<string, string>,
  actual: ReadonlyMap<string, string>,
): Problem {
  const keys = [...new Set([...expected.keys(), ...actual.keys()])];
  const lines = keys
    .filter((key) => expected.get(key) !== actual.get(key))
    .map((key) => `  ${key}\n    memory: ${expected.get(key) ?? '-'}\n    store:  ${actual.get(key) ?? '-'}`);
  return { rule: 'state', detail: `after "${textOf(step)}"\n${lines.join('\n')}` };
}

export function areEqual(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([key, text]) => b.get(key) === text);
}
