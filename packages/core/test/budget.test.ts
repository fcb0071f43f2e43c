import { expect } from 'chai';
import { deadlineOf, leftOfTtl, longestHoldMs, paceOf } from '../src/session/budget.ts';

describe('the time budget', () => {
  it('counts from the moment the proving call was sent, less one percent and the margin', () => {
    expect(deadlineOf(1_000, 10_000, 200)).to.equal(1_000 + 9_900 - 200);
  });

  for (const [ttlMs, expected] of [
    [10_000, { heartbeatIntervalMs: 2_500, answerTimeoutMs: 1_250, retryAfterMs: 200, safetyMarginMs: 200 }],
    [
      60_000,
      { heartbeatIntervalMs: 15_000, answerTimeoutMs: 7_500, retryAfterMs: 200, safetyMarginMs: 1_200 },
    ],
    [2_000, { heartbeatIntervalMs: 500, answerTimeoutMs: 300, retryAfterMs: 50, safetyMarginMs: 200 }],
  ] as const) {
    it(`paces a TTL of ${String(ttlMs)} ms so that three beats may fail`, () => {
      const pace = paceOf(ttlMs, {});
      expect(pace).to.deep.equal(expected);
      const threeFailures = pace.heartbeatIntervalMs + 3 * (pace.answerTimeoutMs + pace.retryAfterMs);
      expect(threeFailures).to.be.below(deadlineOf(0, ttlMs, pace.safetyMarginMs));
    });
  }

  it('knows what heartbeats prove at best, also where they prove earlier ones only', () => {
    expect(longestHoldMs({ ttlMs: 10_000 }, {})).to.equal(9_700);
    expect(longestHoldMs({ ttlMs: 10_000 }, { proofLag: 0.2 })).to.equal(9_700 - 2_500);
    expect(longestHoldMs({ ttlMs: 10_000, heartbeatIntervalMs: 1_000 }, { proofLag: 0.2 })).to.equal(
      9_700 - 2_000,
    );
    expect(longestHoldMs({ ttlMs: 10_000, heartbeatIntervalMs: 4_000 }, { proofLag: 0.2 })).to.equal(
      9_700 - 4_000,
    );
  });

  it('allows one percent of the whole time since an earlier moment that a heartbeat proves', () => {
    const [countedFrom, sentAt, ttlMs] = [1_000, 5_000, 10_000];
    const deadline = deadlineOf(sentAt, leftOfTtl(ttlMs, sentAt - countedFrom), 200);
    expect(deadline).to.be.closeTo(deadlineOf(countedFrom, ttlMs, 200), 1e-6);
    expect(leftOfTtl(ttlMs, ttlMs)).to.equal(0);
  });

  it('lets the user choose pace and margin', () => {
    expect(paceOf(10_000, { heartbeatIntervalMs: 1_000, safetyMarginMs: 700 })).to.include({
      heartbeatIntervalMs: 1_000,
      safetyMarginMs: 700,
    });
  });
});
