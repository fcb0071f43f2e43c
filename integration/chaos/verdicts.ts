import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { checkSafety } from '@queuelock/harness/check';
import { isUnsafe, type Finding } from '@queuelock/harness/check/finding';
import type { Limits } from '@queuelock/harness/check/limits';
import { readRun } from '@queuelock/harness/check/history';

/**
 * Throws if the checker has findings. The error is a `SafetyViolation` if one of the findings concerns
 * safety.
 */
export function expectNone(findings: readonly Finding[], where: string): void {
  const found = findings.map(({ rule, message }) => `${rule}: ${message}`);
  const expectNoneFound = (): void => {
    expect(found, [where, ...found].join('\n')).to.be.empty;
  };
  if (findings.some(isUnsafe)) safely(expectNoneFound);
  else expectNoneFound();
}

/**
 * Checks the histories of a run that was cut short. Fails only if the checker finds a violation of safety.
 */
export async function expectSafe(directory: string, limits: Pick<Limits, 'evictionMs'>): Promise<void> {
  const { run } = await readRun(directory);
  expectNone(checkSafety(run, limits), `given up, see ${directory}`);
}
