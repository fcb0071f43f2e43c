import { expect } from 'chai';
import { deadlineOf, leftOfTtl, longestHoldMs, paceOf, provenUntil } from '../src/session/budget.ts';

describe('the deadline until which a heartbeat proves a hold', () => {
  it('is the time at which the heartbeat was sent, plus the TTL less one percent and the safety margin', () => {
    expect(deadlineOf(1_000, 10_000, 200)).to.equal(1_000 + 9_900 - 200);
  });

  for (const [ttlMs, expected] of [
    [
      10_000,
      {
        heartbeatIntervalMs: 2_500,
        responseTimeoutMs: 1_250,
        retryAfterMs: 200,
        longestRetryMs: 800,
        safetyMarginMs: 200,
      },
    ],
    [
      60_000,
      {
        heartbeatIntervalMs: 15_000,
        responseTimeoutMs: 7_500,
        retryAfterMs: 200,
        longestRetryMs: 800,
        safetyMarginMs: 1_200,
      },
    ],
    [
      2_000,
      {
        heartbeatIntervalMs: 500,
        responseTimeoutMs: 300,
        retryAfterMs: 50,
        longestRetryMs: 200,
        safetyMarginMs: 200,
      },
    ],
  ] as const) {
    it(`leaves time for three failed heartbeats with a TTL of ${String(ttlMs)} ms`, () => {
      const pace = paceOf(ttlMs, {});
      expect(pace).to.deep.equal(expected);
      const retriesMs = pace.retryAfterMs + 2 * pace.retryAfterMs + pace.longestRetryMs;
      const threeFailures = pace.heartbeatIntervalMs + 3 * pace.responseTimeoutMs + retriesMs;
      expect(threeFailures).to.be.below(deadlineOf(0, ttlMs, pace.safetyMarginMs));
    });
  }

  it('is one heartbeat interval or more earlier if the store confirms a heartbeat only with the next one', () => {
    expect(longestHoldMs({ ttlMs: 10_000 }, {})).to.equal(9_700);
    expect(longestHoldMs({ ttlMs: 10_000 }, { proofLag: 0.2 })).to.equal(9_700 - 2_500);
    expect(longestHoldMs({ ttlMs: 10_000, heartbeatIntervalMs: 1_000 }, { proofLag: 0.2 })).to.equal(
      9_700 - 2_000,
    );
    expect(longestHoldMs({ ttlMs: 10_000, heartbeatIntervalMs: 4_000 }, { proofLag: 0.2 })).to.equal(
      9_700 - 4_000,
    );
  });

  it('is counted from the start of the TTL on the server if that was before the heartbeat', () => {
    const [countedFrom, sentAt, ttlMs] = [1_000, 5_000, 10_000];
    const deadline = deadlineOf(sentAt, leftOfTtl(ttlMs, sentAt - countedFrom), 200);
    expect(deadline).to.be.closeTo(deadlineOf(countedFrom, ttlMs, 200), 1e-6);
    expect(leftOfTtl(ttlMs, ttlMs)).to.equal(0);
  });

  it('determines how long the session is still proven at any later time', () => {
    const deadline = deadlineOf(1_000, 10_000, 200);
    expect(provenUntil(deadline, 1_000, 200)).to.be.closeTo(10_000, 1e-6);
    for (const now of [1_000, 3_000, 9_000])
      expect(deadlineOf(now, provenUntil(deadline, now, 200), 200)).to.be.closeTo(deadline, 1e-6);
    expect(provenUntil(deadline, deadline + 1_000, 200)).to.equal(0);
  });

  it('depends on the heartbeat interval and the safety margin of the options', () => {
    expect(paceOf(10_000, { heartbeatIntervalMs: 1_000, safetyMarginMs: 700 })).to.include({
      heartbeatIntervalMs: 1_000,
      safetyMarginMs: 700,
    });
  });
});
