import { expect } from 'chai';
import type { Cell } from '../src/cells.ts';
import { goalTable, subjectsOf, verdictOf } from '../src/goals.ts';
import type { Goal } from '../src/goal.ts';
import { etcdGoals, zooKeeperGoals } from '../src/goal-list.ts';
import { measured } from './measured.ts';
import { barsSvg } from '../src/svg.ts';
import { cellTable, textTable } from '../src/table.ts';

const free: Cell = { store: 'etcd', medium: 'tmpfs', scenario: 'free', size: 1 };
const noisy: Cell = { store: 'etcd', medium: 'tmpfs', scenario: 'fresh', size: 2, noise: true };

describe('the report of the benchmark', () => {
  it('aligns the first column to the left and the others to the right', () => {
    const table = textTable(
      ['client', 'us'],
      [
        ['ours', '7'],
        ['the other', '1,200'],
      ],
    );
    expect(table.split('\n')).to.deep.equal([
      'client        us',
      '---------  -----',
      'ours           7',
      'the other  1,200',
    ]);
  });

  it('compares each client with the lower bound of its transport and with the best-known lock', () => {
    const results = measured(free, {
      ours: [{ p50: 300 }, { p50: 900 }, { p50: 240 }],
      floor: [{ p50: 200 }],
      Go: [{ p50: 400 }],
    });
    results.add(free, { name: 'floor, Go', kind: 'floor', transport: 'Go' }, { p50: 1 });
    const rows = cellTable(results, free).split('\n');
    expect(rows.find((row) => row.startsWith('queuelock'))).to.match(/ 300 +1\.50x +0\.75x$/);
    expect(rows.find((row) => row.startsWith('Go'))).to.match(/ 400 +400\.00x +-$/);
  });

  it('has separate tables for a scenario with unrelated writes and without them', () => {
    const results = measured(noisy, { ours: [{ mean: 5 }] });
    expect(cellTable(results, noisy)).to.contain('2 clients, with noise').and.contain('queuelock, t');
    expect(cellTable(results, { store: 'etcd', medium: 'tmpfs', scenario: 'fresh', size: 2 })).not.to.contain(
      'queuelock, t',
    );
  });

  it('counts a goal as neither met nor missed when it was not measured', () => {
    const goal: Goal = {
      id: 'G3',
      what: '',
      limit: 'most',
      goal: 1.3,
      stretch: 1.1,
      reached: () => undefined,
    };
    const verdicts = [undefined, NaN, 1.4, 1.3, 1.1].map((reached) => verdictOf(goal, reached));
    expect(verdicts).to.deep.equal(['not measured', 'not measured', 'MISSED', 'met', 'met, stretch too']);
    expect(verdictOf({ ...goal, limit: 'least', goal: 5, stretch: 8 }, 6)).to.equal('met');
  });

  it("has a table for each of queuelock's transports, with every goal", () => {
    const results = measured(free, { ours: [{ p50: 300 }], floor: [{ p50: 200 }] });
    const [subject, ...more] = subjectsOf(results);
    expect(more).to.be.empty;
    const table = goalTable(subject!);
    expect(table).to.match(/G3 free lock \/ floor +<= 1\.30 +<= 1\.15 +1\.50 +MISSED/);
    expect(table).to.match(/G3 free lock \/ Go .*not measured/);
    const ids = [...etcdGoals, ...zooKeeperGoals].map(({ id }) => Number(id.slice(1)));
    expect([...new Set(ids)].toSorted((a, b) => a - b)).to.deep.equal(
      Array.from({ length: 13 }, (_, i) => i + 1),
    );
  });

  it('counts a hand-off that takes more than 50 ms even if it occurs in only one round', () => {
    const cell: Cell = { store: 'etcd', medium: 'tmpfs', scenario: 'fresh', size: 2 };
    const results = measured(cell, { ours: [{ over50ms: 0 }, { over50ms: 1 }, { over50ms: 0 }] });
    const goal = etcdGoals.find(({ what }) => what.includes('hand-offs over 50 ms'));
    expect(goal?.reached(subjectsOf(results)[0]!)).to.equal(1);
  });

  it('draws a bar for each client, and nothing outside of the image', () => {
    const results = measured(free, { ours: [{ p50: 300 }], floor: [{ p50: 200 }] });
    results.add(free, { name: 'a < b & c', kind: 'peer', transport: 'x' }, { p50: 100 });
    const svg = barsSvg(results, [free]);
    expect(svg).to.contain('a &lt; b &amp; c').and.not.contain('NaN');
    const [, height] = /^<svg[^>]* height="([\d.]+)"/.exec(svg) ?? [];
    const rows = [...svg.matchAll(/<rect x="230" y="([\d.]+)" width="([\d.]+)"/g)];
    expect(rows).to.have.length(3);
    for (const [, y] of rows) expect(Number(y) + 64).to.be.below(Number(height));
    const widths = rows.map(([, , width]) => Number(width));
    expect(widths[2]! / widths[0]!).to.be.closeTo(3, 0.01);
  });
});
