import { expect } from 'chai';
import { errorOf } from '../src/driver/errors.ts';

describe('the result codes of ZooKeeper', () => {
  /** Reasons for which a server refuses all locks until its operator changes something. */
  const NOT_RETRYABLE = [
    {
      of: 'a server older than 3.5.3, which has no containers',
      code: -6,
      remedy: 'upgrade it to ZooKeeper 3.5.3',
    },
    { of: 'a local session', code: -120, remedy: 'localSessionsUpgradingEnabled=true' },
    { of: 'an exceeded quota', code: -125, remedy: 'raise the quota' },
  ];
  for (const { of, code, remedy } of NOT_RETRYABLE)
    it(`are not retryable for a cause that only an operator can remove: ${of}`, () => {
      const error = errorOf(code, 'create /jobs');
      expect(error).to.include({ code: 'INVALID_ARGUMENT', retryable: false });
      expect(error.message).to.include(`(${code}) for create /jobs: `).and.to.include(remedy);
      expect(error.message).to.not.match(/outcome is unknown/);
    });

  it('that leave the outcome of a write unknown are retryable', () => {
    for (const code of [-4, -7, -9, -116, -118, -999])
      expect(errorOf(code, 'create /jobs'), String(code)).to.include({
        code: 'UNAVAILABLE',
        retryable: true,
      });
  });
});
