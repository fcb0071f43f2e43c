import { SafetyViolation } from '@queuelock/conformance';
import { expect } from 'chai';
import { INVARIANTS, type Finding, type Invariant } from '@queuelock/harness/check/finding';
import { expectNone } from './verdicts.ts';

const SAFETY: readonly Invariant[] = ['S1', 'S2', 'S3', 'F1', 'story'];

const finding = (rule: Invariant): Finding => ({ rule, message: `${rule} is broken`, at: '1', events: [] });
const failure = (...rules: readonly Invariant[]): unknown => {
  try {
    expectNone(rules.map(finding), 'here');
    return undefined;
  } catch (error) {
    return error;
  }
};

describe('verdict on a run', () => {
  it('throws nothing if there are no findings', () => {
    expect(failure()).to.equal(undefined);
  });
  for (const rule of INVARIANTS) {
    const isSafety = SAFETY.includes(rule);
    it(`throws ${isSafety ? 'a' : 'no'} \`SafetyViolation\` for a violation of rule ${rule}`, () => {
      const error = failure(rule);
      expect(error instanceof SafetyViolation).to.equal(isSafety);
      expect(String(error)).to.include('here').and.to.include(`${rule}: ${rule} is broken`);
    });
  }
  it('throws a `SafetyViolation` if at least one of many findings is about safety', () => {
    expect(failure('L1', 'F1', 'L4')).to.be.instanceOf(SafetyViolation);
    expect(failure('L1', 'L4')).to.not.be.instanceOf(SafetyViolation);
  });
});
