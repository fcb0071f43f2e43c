import { expect } from 'chai';
import { admissions, type QueuedEntry } from '../src/queue/admissions.ts';

type Sign = `${'' | '*'}${'w' | 'r'}${'' | `${number}/${number}`}`;

/**
 * Parses a queue: `w` is an exclusive waiter and `r` a shared one. `*` marks an admitted entry. `2/5` means
 * two of five permits.
 */
function line(...signs: readonly Sign[]): readonly QueuedEntry[] {
  return signs.map((sign, position) => {
    const [, admitted, kind, permits = 1, lim = 1] = /^(\*?)([wr])(?:(\d+)\/(\d+))?$/.exec(sign)!;
    return {
      ord: position,
      shared: Number(kind === 'r'),
      lim: Number(lim),
      permits: Number(permits),
      admitted: Number(admitted === '*'),
    };
  });
}

describe('the entries of a SQLite queue that a change admits', () => {
  const cases: readonly (readonly [
    about: string,
    line: readonly QueuedEntry[],
    admitted: readonly number[],
  ])[] = [
    ['the first writer', line('w', 'w', 'w'), [0]],
    ['none behind a writer', line('*w', 'w', 'r'), []],
    ['the readers up to the next writer', line('r', 'r', 'w', 'r'), [0, 1]],
    ['the readers behind readers', line('*r', 'r', 'r', 'w'), [1, 2]],
    ['none behind readers when a writer is first', line('*r', 'w', 'r'), []],
    ['up to the number of permits', line('*w1/3', 'w1/3', 'w1/3', 'w1/3'), [1, 2]],
    ['none behind a large request', line('*w2/4', 'w4/4', 'w1/4'), []],
    ['a large request when all permits are free', line('w4/4', 'w1/4'), [0]],
    ['an entry with a higher limit behind one with a lower limit', line('*w1/1', 'w1/1', 'w1/5'), [2]],
    ['none of an empty queue', [], []],
  ];
  for (const [about, entries, admitted] of cases) {
    it(`are those that no entry ahead blocks: ${about}`, () => {
      const largestLimit = Math.max(1, ...entries.map(({ lim }) => lim));
      expect(admissions(entries, { ahead: { all: 0, exclusive: 0 }, largestLimit })).to.deep.equal(admitted);
    });
  }

  it('are found without reading the whole queue', () => {
    const read: number[] = [];
    function* reading(): Iterable<QueuedEntry> {
      for (const entry of line('w', 'w', 'w', 'w')) {
        read.push(entry.ord);
        yield entry;
      }
    }
    admissions(reading(), { ahead: { all: 0, exclusive: 0 }, largestLimit: 1 });
    expect(read).to.deep.equal([0]);
  });
});
