import { expect } from 'chai';
import fc from 'fast-check';
import { decide, defaultGraceMs, KILL_MARGIN_MS, type Action, type Situation } from '../src/run/action.ts';

const running = { state: 'running' } as const;
const terminating = (sinceMs: number) => ({ state: 'terminating', sinceMs }) as const;

const TABLE: Record<string, [Situation, Action]> = {
  'is to wait until the grace period must begin': [
    { remainingMs: 9_800, suspect: false, graceMs: 2_000, child: running },
    { do: 'wait', ms: 9_800 - KILL_MARGIN_MS - 2_000 },
  ],
  'is to wait until the grace period must begin, even if a heartbeat is overdue': [
    { remainingMs: 5_000, suspect: true, graceMs: 2_000, child: running },
    { do: 'wait', ms: 5_000 - KILL_MARGIN_MS - 2_000 },
  ],
  'is to send SIGTERM when a heartbeat is overdue and only the grace period is left': [
    { remainingMs: 2_000 + KILL_MARGIN_MS, suspect: true, graceMs: 2_000, child: running },
    { do: 'term' },
  ],
  'is to wait in the last grace period too, while no heartbeat is overdue': [
    { remainingMs: 1_500, suspect: false, graceMs: 2_000, child: running },
    { do: 'wait', ms: 1_500 - KILL_MARGIN_MS },
  ],
  'is to kill the command at the end of the proven time, even if no heartbeat is overdue': [
    { remainingMs: KILL_MARGIN_MS, suspect: false, graceMs: 2_000, child: running },
    { do: 'kill' },
  ],
  'is to kill the command at once when the hold is lost': [
    { remainingMs: 0, suspect: true, graceMs: 2_000, child: running },
    { do: 'kill' },
  ],
  'is to kill at once a command that is ending when the hold is lost': [
    { remainingMs: 0, suspect: true, graceMs: 2_000, child: terminating(10) },
    { do: 'kill' },
  ],
  'is to leave a command that is ending the rest of its grace period': [
    { remainingMs: 1_900, suspect: true, graceMs: 1_500, child: terminating(300) },
    { do: 'wait', ms: 1_200 },
  ],
  'is to leave a command that is ending no more than the remaining proven time': [
    { remainingMs: 600, suspect: true, graceMs: 1_500, child: terminating(300) },
    { do: 'wait', ms: 600 - KILL_MARGIN_MS },
  ],
  'is to kill a command that has used up its grace period': [
    { remainingMs: 9_000, suspect: false, graceMs: 1_500, child: terminating(1_500) },
    { do: 'kill' },
  ],
  'is to kill at once a command that is ending when there is no grace period': [
    { remainingMs: KILL_MARGIN_MS + 1, suspect: true, graceMs: 0, child: terminating(0) },
    { do: 'kill' },
  ],
};

describe('the decision when to end a command under a lock', () => {
  for (const [fact, [situation, action]] of Object.entries(TABLE)) {
    it(fact, () => {
      expect(decide(situation)).to.deep.equal(action);
    });
  }

  it('always leaves time to kill the command before the lock can be lost', () => {
    const situation = fc.record({
      remainingMs: fc.double({ min: 0, max: 100_000, noNaN: true }),
      suspect: fc.boolean(),
      graceMs: fc.nat(50_000),
      child: fc.oneof(fc.constant(running), fc.nat(60_000).map(terminating)),
    });
    fc.assert(
      fc.property(situation, (now) => {
        const action = decide(now);
        if (action.do === 'wait')
          expect(action.ms)
            .to.be.greaterThan(0)
            .and.at.most(now.remainingMs - KILL_MARGIN_MS);
        if (action.do === 'term') expect(now.remainingMs).to.be.greaterThan(KILL_MARGIN_MS);
        if (now.remainingMs <= KILL_MARGIN_MS) expect(action.do).to.equal('kill');
      }),
    );
  });

  it('uses a default grace period of a quarter of the TTL, at most 2 s', () => {
    expect([1_000, 4_000, 8_000, 60_000].map(defaultGraceMs)).to.deep.equal([250, 1_000, 2_000, 2_000]);
  });
});
