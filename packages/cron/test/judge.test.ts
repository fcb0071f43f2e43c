import { expect } from 'chai';
import { faultsOf, ticksAfter } from './judge.ts';
import type { Told } from './scheduled-jobs.ts';

const TICK = '2026-11-27T12:00:00.000Z';
const JOB = 'at-least-once, croner';
const ONCE = 'at-most-once, croner';

/**
 * Builds a process and its reports about one tick from words: `called`, `late`, `begun`, `ended`, or an
 * outcome.
 */
function member(words: string, { job = JOB, isKilled = false } = {}): { told: Told[]; isKilled: boolean } {
  const told = words.split(' ').map((word): Told => {
    if (word === 'called' || word === 'late')
      return { ev: 'called', job, tick: TICK, lateMs: word === 'late' ? 1_500 : 3 };
    if (word === 'begun' || word === 'ended') return { ev: word, job, tick: TICK };
    return { ev: 'told', job, tick: TICK, outcome: word };
  });
  return { told, isKilled };
}

const ran = 'called begun ended ran';
const killed = { isKilled: true };
const once = { job: ONCE };

describe('the checker of ticks', () => {
  for (const [what, members] of Object.entries({
    'one runs, the others learn it': [member(ran), member('called already-done')],
    'the first is killed, the second one repeats': [member('called begun', killed), member(ran)],
    'one that fires too late is passed over': [member('late superseded')],
    'the work goes with its process, at most once': [
      member('called begun', { ...once, ...killed }),
      member('called already-done', once),
    ],
  }))
    it(`accepts that ${what}`, () => {
      expect(faultsOf(members, [members[0]!.told[0]!.job], [TICK])).to.deep.equal([]);
    });

  for (const [fault, members] of Object.entries({
    'two processes did it': [member(ran), member(ran)],
    'two living processes did it': [member(ran), member('called begun already-done')],
    'it was skipped': [member('called already-done'), member('called begun', killed)],
    'it began twice': [member('called begun ran', once), member('called begun', { ...once, ...killed })],
    'a living process never learned what became of it': [member(ran), member('called')],
    '[CLOSED]': [member(ran), member('called [CLOSED]')],
  }))
    it(`reports that ${fault}`, () => {
      const { job } = members[0]!.told[0]!;
      expect(faultsOf(members, [job], [TICK])).to.include(`${job} at ${TICK}: ${fault}`);
    });

  it('computes the ticks that follow a tick', () => {
    expect(ticksAfter(TICK, 2, 2_000)).to.deep.equal([
      '2026-11-27T12:00:02.000Z',
      '2026-11-27T12:00:04.000Z',
    ]);
  });
});
