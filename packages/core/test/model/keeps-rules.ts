import * as core from '../../src/index.ts';
import { SafetyViolation } from '@queuelock/harness/safety';
import { play } from './history.ts';
import { RULES, UNSAFE } from './judge.ts';
import type { History } from './plan.ts';

/**
 * Runs the history with the real core. Throws an error with the log of its events if it breaks a rule of
 * judge.ts.
 */
export async function assertKeepsRules(history: History): Promise<void> {
  const { broken, trace } = await play(core, history);
  if (!broken) return;
  const message = `${broken}: ${RULES[broken]}\n${trace.join('\n')}`;
  throw UNSAFE.has(broken) ? new SafetyViolation(message) : new Error(message);
}
