import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { checkSafety } from '@queuelock/harness/check';
import { isUnsafe, type Finding } from '@queuelock/harness/check/finding';
import type { Limits } from '@queuelock/harness/check/limits';
import { readRun } from '@queuelock/harness/check/history';

/** Throws if there are findings: a `SafetyViolation` if one of them is unsafe. */
export function expectNone(findings: readonly Finding[], where: string): void {
  const found = findings.map(({ rule, message }) => `${rule}: ${message}`);
  const expectNoneFound = (): void => {
    expect(found, [where, ...found].join('\n')).to.be.empty;
  };
  if (findings.some(isUnsafe)) safely(expectNoneFound);
  else expectNoneFound();
}

/** Expects that a run without an end contains no unsafe finding. */
export async function expectSafe(directory: string, limits: Pick<Limits, 'evictionMs'>): Promise<void> {
  const { run } = await readRun(directory);
  expectNone(checkSafety(run, limits), `given up, see ${directory}`);
}
