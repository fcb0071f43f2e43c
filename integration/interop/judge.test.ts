import { expect } from 'chai';
import { judge } from './judge.ts';
import type { History, InteropEvent } from './protocol.ts';

const event = (
  t: number,
  id: string,
  fields: Partial<InteropEvent> & Pick<InteropEvent, 'ev'>,
): InteropEvent => ({
  t: String(t),
  id,
  n: 1,
  ...fields,
});

/**
 * Returns the events of one round of a participant: it requests the lock, holds it from `from` to `to`, and
 * releases it.
 */
function round(id: string, token: number, [from, to]: readonly [number, number]): InteropEvent[] {
  return [
    event(0, id, { ev: 'requesting' }),
    event(from, id, { ev: 'acquired', order: String(token), token: String(token) }),
    event(to, id, { ev: 'releasing' }),
    event(to + 1, id, { ev: 'released' }),
  ];
}

const without = (history: History, id: string, ...evs: readonly InteropEvent['ev'][]): History =>
  history.filter((one) => one.id !== id || !evs.includes(one.ev));

describe('the checker of queues shared by clients in several languages', () => {
  const right = [...round('a', 5, [10, 20]), ...round('b', 6, [21, 30]), ...round('c', 9, [30, 40])];

  it('reports nothing for a correct history, in any order of events', () => {
    expect(judge(right).findings).to.deep.equal([]);
    expect(judge([...right].reverse()).findings).to.deep.equal([]);
    expect(judge(right).holds.map(({ id }) => id)).to.deep.equal(['a', 'b', 'c']);
  });

  it('reports two simultaneous holders', () => {
    const { findings } = judge([...round('a', 5, [10, 20]), ...round('b', 6, [19, 30])]);
    expect(findings).to.deep.equal(['b (round 1) was granted while a (round 1) held']);
  });

  it('reports a waiter that was overtaken', () => {
    const { findings } = judge([...round('a', 5, [31, 40]), ...round('b', 6, [21, 30])]);
    expect(findings).to.deep.equal(['b (round 1) was granted while a (round 1) waited']);
  });

  it('reports a token that was granted twice', () => {
    const { findings } = judge([...round('a', 5, [10, 20]), ...round('b', 5, [21, 30])]);
    expect(findings).to.deep.equal(['a (round 1): token 5 was given twice']);
  });

  it('reports a participant that never requests the lock, never gets it, or never releases it', () => {
    const waits = without(right, 'c', 'acquired', 'releasing', 'released');
    expect(judge(waits).findings).to.deep.equal(['c (round 1) was never served']);
    const holds = without(right, 'c', 'releasing', 'released');
    expect(judge(holds).findings).to.deep.equal(['c (round 1) never released']);
    expect(judge(without(right, 'c', 'acquired')).findings).to.deep.equal([
      'c (round 1) held without having been granted',
    ]);
    expect(judge(without(right, 'c', 'requesting')).findings).to.deep.equal(['c (round 1) never asked']);
  });

  it('reports failures and losses only of participants that were not killed or frozen', () => {
    const fails = [
      ...without(right, 'c', 'acquired', 'releasing', 'released'),
      event(40, 'c', { ev: 'failed', message: 'no' }),
    ];
    expect(judge(fails).findings).to.deep.equal(['c (round 1): no']);
    expect(judge([...fails, event(5, 'c', { ev: 'frozen', n: 0 })]).findings).to.deep.equal([]);
    const loses = [...without(right, 'c', 'releasing', 'released'), event(40, 'c', { ev: 'lost' })];
    expect(judge(loses).findings).to.deep.equal(['c (round 1) lost its hold']);
    expect(judge([...loses, event(35, 'c', { ev: 'frozen', n: 0 })]).findings).to.deep.equal([]);
  });

  it('counts findings about exclusion, order and tokens as unsafe, but not findings about failed participants', () => {
    const overlap = [...round('a', 5, [10, 20]), ...round('b', 6, [19, 30])];
    const twice = [...round('a', 5, [10, 20]), ...round('b', 5, [21, 30])];
    for (const history of [overlap, twice, without(right, 'c', 'acquired')])
      expect(judge(history).unsafe).to.have.lengthOf(1).and.to.deep.equal(judge(history).findings);
    const open = without(right, 'c', 'releasing', 'released');
    const waits = without(right, 'c', 'acquired', 'releasing', 'released');
    const fails = [...waits, event(40, 'c', { ev: 'failed', message: 'no' })];
    for (const history of [open, waits, fails]) {
      expect(judge(history).findings).to.have.lengthOf(1);
      expect(judge(history).unsafe).to.deep.equal([]);
    }
  });

  it('accepts a grant during the hold of another client only if that client was killed or frozen before', () => {
    for (const ev of ['killed', 'frozen'] as const) {
      const history = (at: number): History => [
        ...without(round('a', 5, [10, 50]), 'a', ev === 'killed' ? 'released' : 'lost', 'releasing'),
        event(at, 'a', { ev, n: 0 }),
        ...round('b', 6, [21, 30]),
      ];
      expect(judge(history(15)).findings, ev).to.deep.equal([]);
      expect(judge(history(25)).findings, ev).to.deep.equal([
        'b (round 1) was granted while a (round 1) held',
      ]);
    }
  });

  it('reports a holder that continues after a freeze, if its client has to notice a loss', () => {
    const history = [
      ...without(round('a', 5, [10, 60]), 'a'),
      event(15, 'a', { ev: 'frozen', n: 0 }),
      event(50, 'a', { ev: 'thawed', n: 0 }),
    ].sort((x, y) => Number(x.t) - Number(y.t));
    expect(judge(history).findings).to.deep.equal([]);
    expect(judge(history, { prompt: new Set(['a']) }).findings).to.deep.equal([
      'a (round 1) believed in its hold after it had stood still',
    ]);
  });

  it('accepts readers that hold together, and no reader that overtakes a writer', () => {
    const shared = new Set(['r1', 'r2']);
    const together = [...round('r1', 1, [10, 20]), ...round('r2', 2, [11, 25]), ...round('w', 3, [26, 30])];
    expect(judge(together, { shared }).findings).to.deep.equal([]);
    expect(judge(together).findings).to.have.lengthOf(1);
    const past = [...round('r1', 1, [10, 20]), ...round('w', 2, [26, 30]), ...round('r2', 3, [11, 25])];
    expect(judge(past, { shared }).findings).to.deep.equal([
      'r2 (round 1) was granted while w (round 1) waited',
    ]);
  });

  it('accepts as many simultaneous holders as a semaphore has permits, if they are granted in order', () => {
    const two = [...round('a', 1, [10, 20]), ...round('b', 2, [11, 25]), ...round('c', 3, [20, 30])];
    expect(judge(two, { limit: 2 }).findings).to.deep.equal([]);
    const three = [...round('a', 1, [10, 20]), ...round('b', 2, [11, 25]), ...round('c', 3, [19, 30])];
    expect(judge(three, { limit: 2 }).findings).to.deep.equal([
      'c (round 1) was granted while a (round 1) held, b (round 1) held',
    ]);
  });
});
