import { expect } from 'chai';
import fc from 'fast-check';
import { decide, type Situation } from '../src/run/action.ts';
import { watchdogAction, ordersFor, elapsedMs, GUARD_TIMEOUT_MS } from '../src/run/orders.ts';

const from = { monotonicMs: 1_000, bootMs: 5_000 };
const situation = (changes: Partial<Situation>): Situation => ({
  remainingMs: 8_000,
  suspect: true,
  graceMs: 2_000,
  child: { state: 'running' },
  ...changes,
});

describe('a watchdog that follows the latest message of its guard', () => {
  it('ends the command a little later than the guard in queuelock run would end it', () => {
    expect(ordersFor({ group: 7 }, situation({}), from)).to.deep.equal({
      group: 7,
      from,
      graceMs: 2_000,
      termInMs: 5_950,
      killInMs: 7_950,
    });
  });

  it('gives the guard a second to send a new message while no heartbeat is overdue', () => {
    const { termInMs, killInMs } = ordersFor(
      { group: 7 },
      situation({ remainingMs: 1_550, suspect: false }),
      from,
    );
    expect({ termInMs, killInMs }).to.deep.equal({ termInMs: GUARD_TIMEOUT_MS, killInMs: 1_500 });
  });

  it('kills the command immediately when the hold has ended', () => {
    expect(ordersFor({ group: 7 }, situation({ remainingMs: 0 }), from)).to.include({
      termInMs: 0,
      killInMs: 0,
    });
  });

  it('kills the command before the end of the hold, but later than the guard would kill it', () => {
    const situations = fc.record({
      remainingMs: fc.double({ min: 200, max: 100_000, noNaN: true }),
      suspect: fc.boolean(),
      graceMs: fc.nat(50_000),
      child: fc.constant({ state: 'running' } as const),
    });
    fc.assert(
      fc.property(situations, (now) => {
        const orders = ordersFor({ group: 7 }, now, from);
        expect(orders.killInMs).to.be.lessThan(now.remainingMs);
        expect(orders.termInMs).to.be.within(0, orders.killInMs);
        const action = decide(now);
        if (action.do === 'wait') expect(orders.killInMs).to.be.greaterThan(action.ms);
        expect(watchdogAction(orders, now.remainingMs, false)).to.deep.equal({ do: 'kill' });
      }),
    );
  });
});

describe('the next action of a watchdog', () => {
  const orders = { ...ordersFor({ group: 7 }, situation({}), from), termInMs: 100, killInMs: 300 };

  for (const [passed, termed, deed] of [
    [0, false, { do: 'wait', ms: 100 }],
    [100, false, { do: 'term' }],
    [120, true, { do: 'wait', ms: 180 }],
    [300, true, { do: 'kill' }],
    [300, false, { do: 'kill' }],
  ] as const) {
    it(`is "${deed.do}" ${String(passed)} ms after the latest message of its guard${termed ? ', if it has already sent SIGTERM' : ''}`, () => {
      expect(watchdogAction(orders, passed, termed)).to.deep.equal(deed);
    });
  }

  it('takes into account the time during which the machine slept', () => {
    expect(elapsedMs(from, { monotonicMs: 1_100, bootMs: 5_100 })).to.equal(100);
    expect(elapsedMs(from, { monotonicMs: 1_100, bootMs: 65_100 })).to.equal(60_080);
  });
});
