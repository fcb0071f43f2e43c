import { expect } from 'chai';
import fc from 'fast-check';
import { decide, defaultGraceMs, KILL_MARGIN_MS, type Action, type Situation } from '../src/run/action.ts';

const running = { state: 'running' } as const;
const terminating = (sinceMs: number) => ({ state: 'terminating', sinceMs }) as const;

const TABLE: Record<string, [Situation, Action]> = {
  'a fresh hold is left alone until the grace period begins': [
    { remainingMs: 9_800, suspect: false, graceMs: 2_000, child: running },
    { do: 'wait', ms: 9_800 - KILL_MARGIN_MS - 2_000 },
  ],
  'a suspect hold with budget is left alone': [
    { remainingMs: 5_000, suspect: true, graceMs: 2_000, child: running },
    { do: 'wait', ms: 5_000 - KILL_MARGIN_MS - 2_000 },
  ],
  'a suspect hold with no more than the grace period left ends the command': [
    { remainingMs: 2_000 + KILL_MARGIN_MS, suspect: true, graceMs: 2_000, child: running },
    { do: 'term' },
  ],
  'a hold without doubt goes on in the grace period: the next heartbeat is on its way': [
    { remainingMs: 1_500, suspect: false, graceMs: 2_000, child: running },
    { do: 'wait', ms: 1_500 - KILL_MARGIN_MS },
  ],
  'a hold at its very end is killed without doubt, too': [
    { remainingMs: KILL_MARGIN_MS, suspect: false, graceMs: 2_000, child: running },
    { do: 'kill' },
  ],
  'a lost hold kills at once': [
    { remainingMs: 0, suspect: true, graceMs: 2_000, child: running },
    { do: 'kill' },
  ],
  'a lost hold kills a command that is ending': [
    { remainingMs: 0, suspect: true, graceMs: 2_000, child: terminating(10) },
    { do: 'kill' },
  ],
  'a command that is ending has the rest of its grace period': [
    { remainingMs: 1_900, suspect: true, graceMs: 1_500, child: terminating(300) },
    { do: 'wait', ms: 1_200 },
  ],
  'a command that is ending never has more than the budget': [
    { remainingMs: 600, suspect: true, graceMs: 1_500, child: terminating(300) },
    { do: 'wait', ms: 600 - KILL_MARGIN_MS },
  ],
  'a command that used up its grace period is killed': [
    { remainingMs: 9_000, suspect: false, graceMs: 1_500, child: terminating(1_500) },
    { do: 'kill' },
  ],
  'no grace period means TERM and KILL at the end of the budget': [
    { remainingMs: KILL_MARGIN_MS + 1, suspect: true, graceMs: 0, child: terminating(0) },
    { do: 'kill' },
  ],
};

describe('the decision about a command under a lock', () => {
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

  it('uses by default a grace period of a quarter of the TTL, at most 2 s', () => {
    expect([1_000, 4_000, 8_000, 60_000].map(defaultGraceMs)).to.deep.equal([250, 1_000, 2_000, 2_000]);
  });
});
