import type { Step, StepsDone } from '../driver/driver.ts';
import { ZkCode } from '../driver/errors.ts';
import { multi, type StepResult, type WireStep } from './multi.ts';
import { CreateFlag } from './node-requests.ts';
import type { WireRequest } from './request.ts';

const ANY_VERSION = -1;
// What the server tells of the steps beside the one that failed: those before it, and those after it.
const INNOCENT: readonly number[] = [ZkCode.ok, -2];

const REASONS: Readonly<Record<number, Extract<StepsDone, { done: false }>['reason']>> = {
  [ZkCode.noNode]: 'missing',
  [ZkCode.nodeExists]: 'exists',
  [ZkCode.badVersion]: 'version',
};

/** One request for all of them. */
export function requestFor(steps: readonly Step[]): WireRequest<readonly StepResult[]> {
  return multi(steps.map(wireStepOf));
}

/** What came of them; the code of a failure that is no value. */
export function doneOf(results: readonly StepResult[]): StepsDone | number {
  const at = results.findIndex((result) => result.type === 'error' && !INNOCENT.includes(result.error));
  const failed = results[at];
  if (failed?.type === 'error') {
    const reason = REASONS[failed.error];
    return reason ? { done: false, at, reason } : failed.error;
  }
  const paths = results.flatMap((result) => (result.type === 'create' ? [result.path] : []));
  const written = results.find((result) => result.type === 'setData');
  return { done: true, paths, ...(written && { zxid: written.stat.mzxid }) };
}

/**
 * Creates are of the first kind, which does not tell the transaction: of what came later (`create2`) servers take the request for several
 * steps, too, but not all of them can carry it out.
 */
function wireStepOf(step: Step): WireStep {
  if (step.type === 'create') {
    const { path, text, mode } = step;
    return { type: 'create', node: { path, data: Buffer.from(text), flags: CreateFlag[mode] } };
  }
  const { path, version = ANY_VERSION } = step;
  if (step.type === 'write') return { type: 'setData', path, data: Buffer.from(step.text), version };
  return { type: step.type, path, version };
}
