import { expect } from 'chai';
import { tableLines } from '../src/view/table.ts';
import { count, counted, duration, fit, widthOf } from '../src/view/text.ts';

describe('text in a terminal', () => {
  it('is measured in the number of columns that a terminal uses for it', () => {
    expect(['abc', '錠', '🔒', 'e\u0301'].map(widthOf)).to.deep.equal([3, 2, 2, 1]);
  });

  it('is cut or padded to exactly the given columns', () => {
    for (const text of ['', 'short', 'somewhat too long', '錠錠錠錠錠錠', 'x🔒🔒🔒🔒🔒'])
      for (const width of [0, 1, 2, 7, 8])
        expect(widthOf(fit(text, width)), `${text} ${String(width)}`).to.equal(width);
    expect(fit('12', 4, 'right')).to.equal('  12');
    expect(fit('abcdef', 4)).to.equal('abc…');
  });

  it('shows a duration in its two largest units', () => {
    const shown = [-5, 0, 350, 4_200, 9_949, 9_950, 59_400, 185_000, 7_620_000, 1_050_000_000, Infinity].map(
      duration,
    );
    expect(shown).to.deep.equal([
      '0ms',
      '0ms',
      '350ms',
      '4.2s',
      '9.9s',
      '10s',
      '59s',
      '3m05s',
      '2h07m',
      '12d03h',
      '-',
    ]);
  });

  it('shows a count with commas between the thousands, and with its noun', () => {
    expect([7, 1_234, 12_345_678].map(count)).to.deep.equal(['7', '1,234', '12,345,678']);
    expect([counted(1, 'entry', 'entries'), counted(2, 'queue')]).to.deep.equal(['1 entry', '2 queues']);
  });
});

describe('a table in the terminal', () => {
  const columns = [
    { title: 'NAME', minWidth: 6 },
    { title: 'N', align: 'right' },
    { title: 'EMPTY' },
  ] as const;
  const textOf = (line: ReturnType<typeof tableLines>[number]): string =>
    line.map((span) => (typeof span === 'string' ? span : span[0])).join('');

  it('has columns as wide as their content, and no empty column', () => {
    const rows = [{ cells: ['a', '1', ''] }, { cells: ['longer', '100', ''] }];
    expect(tableLines(columns, rows).map(textOf)).to.deep.equal([
      'NAME      N',
      'a         1',
      'longer  100',
    ]);
  });

  it('never exceeds the given width: shrinkable columns shrink, and the rest is cut', () => {
    const rows = [{ cells: ['a very long name indeed', '12345', ''] }];
    expect(tableLines(columns, rows, 15).map(textOf)).to.deep.equal(['NAME          N', 'a very …  12345']);
    for (const width of [0, 1, 5, 12, 13, 40])
      for (const line of tableLines(columns, rows, width)) expect(widthOf(textOf(line))).to.be.at.most(width);
  });
});
