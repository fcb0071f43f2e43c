import { expect } from 'chai';
import { check, type Verdict } from '@queuelock/harness/check';
import { LIMITS } from '@queuelock/harness/check/judged';
import { slopeOf, spreadOf } from '@queuelock/harness/check/samples';
import { HistoryBuilder } from '@queuelock/harness/check/history-builder';
import { runOf } from '@queuelock/harness/check/history';
import { markdownTable, plainTable, tableOf } from './table.ts';

const verdictOf = (acquired: number): Verdict => {
  const builder = new HistoryBuilder()
    .worker('a', 0)
    .worker('b', 0)
    .attempt('a', { token: 1, queued: 10, acquired: 20, released: 100 })
    .attempt('b', { token: 2, queued: 30, acquired, released: 150 })
    .fault(1, { what: 'cut | <off>', target: 'etcd-1', from: 160, to: 170 })
    .harness(180, { ev: 'left-over', kind: 'key', what: 'q/1' });
  return check(runOf(builder.close(300, 'a', 'b').events), LIMITS);
};
const rowOf = (name: string): readonly string[] | undefined => {
  const groups = [
    { name: 'etcd', verdicts: [verdictOf(102), verdictOf(104)] },
    { name: 'ZooKeeper', verdicts: [verdictOf(99)] },
  ];
  return tableOf(groups).rows.find((row) => row.name.trim() === name)?.cells;
};

describe('the table of chaos results', () => {
  it('adds up the numbers of all runs of a store in one column', () => {
    expect(rowOf('runs')).to.deep.equal(['2', '1']);
    expect(rowOf('holds checked')).to.deep.equal(['4', '2']);
    expect(rowOf('cut | <off>')).to.deep.equal(['2', '1']);
    expect(rowOf('S2 violations')).to.deep.equal(['0', '1']);
    expect(rowOf('left-overs')).to.deep.equal(['2', '1']);
  });
  it('computes quantiles over the samples of all runs of a store', () => {
    expect(rowOf('S3 after a release, min / p1')).to.deep.equal(['2.00 / 2.00 ms', '-1.00 / -1.00 ms']);
    expect(rowOf('clean hand-over, p50 / p99 / max')?.[0]).to.equal('2.00 / 4.00 / 4.00 ms');
    expect(rowOf('S3 after a loss, min / p1')).to.deep.equal(['–', '–']);
  });
  it('counts an unscheduled kill as a fault, and a scheduled freeze as one fault', () => {
    const builder = new HistoryBuilder()
      .worker('a', 0)
      .worker('b', 0)
      .harness(5, { ev: 'killed', worker: 'a' });
    builder.fault(1, { what: 'frozen', target: 'b', from: 10, to: 30 });
    builder.harness(11, { ev: 'frozen', worker: 'b' }).harness(29, { ev: 'thawed', worker: 'b' });
    const { numbers } = check(runOf(builder.close(300, 'b').events), LIMITS);
    expect(numbers.faults).to.deep.equal({ frozen: 1, 'worker killed': 1 });
  });
  it('is aligned for a terminal, and escaped for Markdown', () => {
    const table = tableOf([{ name: 'etcd', verdicts: [verdictOf(102)] }]);
    const lines = plainTable(table).split('\n');
    expect(new Set(lines.map((line) => line.length)).size).to.equal(1);
    expect(markdownTable(table)).to.contain('| ↳ cut \\| &lt;off> | 1 |');
    expect(lines).to.have.length(table.rows.length + 1);
  });
});

describe('statistics of samples', () => {
  it('include quantiles by nearest rank, whatever the order of the samples', () => {
    const samples = Array.from({ length: 200 }, (_, i) => 200 - i);
    expect(spreadOf(samples)).to.deep.equal({ count: 200, min: 1, p1: 2, p50: 100, p99: 198, max: 200 });
    expect(spreadOf([])).to.equal(undefined);
  });
  it('include the slope of the regression line through the samples', () => {
    expect(
      slopeOf([
        { x: 0, y: 5 },
        { x: 10, y: 25 },
        { x: 20, y: 45 },
      ]),
    ).to.equal(2);
    expect(slopeOf([{ x: 1, y: 5 }])).to.equal(undefined);
  });
});
