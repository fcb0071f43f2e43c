import type { Step, TransactionResult } from '../driver/driver.ts';
import { ZkCode } from '../driver/errors.ts';
import { multi, type StepResult, type WireStep } from './multi.ts';
import { CreateFlag } from './node-requests.ts';
import type { WireRequest } from './request.ts';

const ANY_VERSION = -1;
// The codes that the server returns in a failed transaction for the steps before the failed one, and for
// those after it.
const INNOCENT: readonly number[] = [ZkCode.ok, -2];

const REASONS: Readonly<Record<number, Extract<TransactionResult, { done: false }>['reason']>> = {
  [ZkCode.noNode]: 'missing',
  [ZkCode.nodeExists]: 'exists',
  [ZkCode.badVersion]: 'version',
};

/** Encodes all steps of a transaction as one request. */
export function requestFor(steps: readonly Step[]): WireRequest<readonly StepResult[]> {
  return multi(steps.map(wireStepOf));
}

/**
 * Converts the results of the steps of a transaction to a result of `ZkDriver.multi`. If a step failed with a result code that `REASONS` does not
 * list, returns that code. The call must then reject.
 */
export function doneOf(results: readonly StepResult[]): TransactionResult | number {
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
 * Encodes a step. A create is encoded in the older version, whose reply lacks the transaction id. Not all servers can execute the newer
 * `create2` in a transaction.
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
