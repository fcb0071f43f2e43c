import { expect } from 'chai';
import { faultsOf, ticksAfter } from './judge.ts';
import type { Reported } from './scheduled-jobs.ts';

const TICK = '2026-11-27T12:00:00.000Z';
const JOB = 'at-least-once, croner';
const ONCE = 'at-most-once, croner';

/**
 * Creates the record of one process with its reports about one tick. `words` lists these reports, separated
 * by spaces: `called`, `late`, `begun` and `ended`, or the outcome of the tick.
 */
function member(
  words: string,
  { job = JOB, isKilled = false } = {},
): { reported: Reported[]; isKilled: boolean } {
  const reports = words.split(' ').map((word): Reported => {
    if (word === 'called' || word === 'late')
      return { ev: 'called', job, tick: TICK, lateMs: word === 'late' ? 1_500 : 3 };
    if (word === 'begun' || word === 'ended') return { ev: word, job, tick: TICK };
    return { ev: 'reported', job, tick: TICK, outcome: word };
  });
  return { reported: reports, isKilled };
}

const ran = 'called begun ended ran';
const killed = { isKilled: true };
const once = { job: ONCE };

describe('the checker of the ticks of cron jobs', () => {
  for (const [what, members] of Object.entries({
    'one process runs the tick and the others learn of it': [member(ran), member('called already-done')],
    'the first process is killed and the second one repeats the tick': [
      member('called begun', killed),
      member(ran),
    ],
    'a tick that fires too late is skipped': [member('late superseded')],
    'the work of an at-most-once tick ends with its killed process': [
      member('called begun', { ...once, ...killed }),
      member('called already-done', once),
    ],
  }))
    it(`accepts that ${what}`, () => {
      expect(faultsOf(members, [members[0]!.reported[0]!.job], [TICK])).to.deep.equal([]);
    });

  for (const [fault, members] of Object.entries({
    'two processes did it': [member(ran), member(ran)],
    'two living processes did it': [member(ran), member('called begun already-done')],
    'it was skipped': [member('called already-done'), member('called begun', killed)],
    'it began twice': [member('called begun ran', once), member('called begun', { ...once, ...killed })],
    'a living process never learned what became of it': [member(ran), member('called')],
    '[CLOSED]': [member(ran), member('called [CLOSED]')],
  }))
    it(`reports this fault of a tick: ${fault}`, () => {
      const { job } = members[0]!.reported[0]!;
      expect(faultsOf(members, [job], [TICK])).to.include(`${job} at ${TICK}: ${fault}`);
    });

  it('computes the expected ticks that follow a given tick', () => {
    expect(ticksAfter(TICK, 2, 2_000)).to.deep.equal([
      '2026-11-27T12:00:02.000Z',
      '2026-11-27T12:00:04.000Z',
    ]);
  });
});
