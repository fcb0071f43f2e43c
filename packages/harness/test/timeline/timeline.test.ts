import { expect } from 'chai';
import { check } from '../../src/check.ts';
import { LIMITS } from '../../src/check/judged.ts';
import { HistoryBuilder } from '../../src/check/history-builder.ts';
import { runOf } from '../../src/check/history.ts';
import { violationsOf } from '../../src/check/violations.ts';
import { rowsOf } from '../../src/timeline/scale.ts';
import { escaped } from '../../src/timeline/svg.ts';
import { timelineOf, windowOf } from '../../src/timeline/timeline.ts';

const NASTY = '<script>&"\'\u0000\ud800';

const builder = (): HistoryBuilder =>
  new HistoryBuilder()
    .worker('a', 0)
    .worker('b', 0)
    .attempt('a', { queue: NASTY, token: 1, queued: 10, acquired: 20, released: 100 })
    .attempt('b', { queue: NASTY, token: 2, queued: 30, acquired: 99, released: 150 })
    .fault(1, { what: NASTY, target: 'etcd-1', from: 50, to: 70 })
    .close(300, 'a', 'b');

const drawn = (options: { window?: [number, number] } = {}): string => {
  const run = runOf(builder().events);
  const violations = violationsOf(run, check(run, LIMITS).findings);
  return timelineOf(run, { title: NASTY, violations, ...options });
};
const bars = (svg: string): number => svg.match(/height="11" rx="2" fill="#0072b2"/g)?.length ?? 0;

describe('the timeline of a recorded run', () => {
  it('is one file without scripts, with all text escaped', () => {
    const svg = drawn();
    expect(svg).to.match(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"[^]*<\/svg>\n$/);
    expect(svg).not.to.match(/<script|href=|\son\w+=|url\(/);
    expect(svg).to.contain('&lt;script&gt;&amp;&quot;&#39;\u{FFFD}\u{FFFD}');
    expect(svg).not.to.match(/&(?!amp;|lt;|gt;|quot;|#39;)/);
  });
  it('shows a bar for each hold, and the violation in red with its number and message', () => {
    const svg = drawn();
    // The drawing has one bar for each of the two holds, and one in the legend.
    expect(bars(svg)).to.equal(2 + 1);
    expect(svg).to.contain('>S2 [1]<').and.contain('[1] S2: a#1');
    expect(svg.match(/wrongbar"/g)).to.have.length(1);
  });
  it('shows only the events in the selected window', () => {
    expect(bars(drawn({ window: [0, 0.1] }))).to.equal(1 + 1);
    expect(bars(drawn({ window: [0.2, 0.3] }))).to.equal(0 + 1);
    expect(drawn({ window: [0.2, 0.3] })).not.to.contain('[1]');
  });
  it('refuses a window that ends before it begins', () => {
    expect(() => drawn({ window: [2, 1] })).to.throw('window: [2, 1]');
  });
  it('shows only the time around the first violation when the run took long', () => {
    const long = builder().harness(600_000, { ev: 'end' });
    const run = runOf(long.events);
    const [violation] = violationsOf(run, check(run, LIMITS).findings);
    expect(windowOf(run, [])).to.deep.equal([0, 60]);
    expect(windowOf(run, [{ ...violation!, at: run.span.from + 300e9 }])).to.deep.equal([285, 315]);
  });
  it('puts periods that do not overlap into one row', () => {
    const items = [
      [0, 5],
      [1, 2],
      [2, 4],
      [5, 6],
    ].map(([from = 0, to = 0]) => ({ from, to }));
    const { rows, rowOf } = rowsOf(items, (item) => item);
    expect(rows).to.equal(2);
    expect(items.map((item) => rowOf.get(item))).to.deep.equal([0, 1, 1, 0]);
  });
  it('keeps emoji and other characters above U+FFFF', () => {
    expect(escaped('🔒 ü')).to.equal('🔒 ü');
  });
});
