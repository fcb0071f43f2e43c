import { expect } from 'chai';
import { HistoryBuilder, stamp } from '@queuelock/harness/check/history-builder';
import { inWindow, windowsOf } from './chaos-windows.ts';
import { runOf } from '@queuelock/harness/check/history';

const LENGTH_MS = 120_000;

function builderWith(...faults: readonly (readonly [what: string, atMs: number])[]): HistoryBuilder {
  const builder = new HistoryBuilder().tell('worker-1', 0, {
    ev: 'started',
    pid: 1,
    ttlMs: 5_000,
    safetyMarginMs: 200,
  });
  for (const [index, [what, at]] of faults.entries())
    builder.fault(index + 1, { what, target: 'store', from: at, to: at + 10 });
  return builder.harness(LENGTH_MS, { ev: 'end' });
}

const KINDS = [
  ['a', 10_000],
  ['a', 11_000],
  ['a', 12_000],
  ['b', 60_000],
  ['c', 70_000],
] as const;

describe('the diagrams in the report of a chaos run', () => {
  it('show the part of the run with the most kinds of faults', () => {
    expect(windowsOf(runOf(builderWith(...KINDS).events), [])).to.deep.equal([[59, 89]]);
  });

  it('show the seconds around each violation once, even if two violations are close together', () => {
    const wrong = [100_000, 100_500, 30_000].map((ms) => ({ at: stamp(ms) }));
    expect(windowsOf(runOf(builderWith(...KINDS).events), wrong)).to.deep.equal([
      [90, 110],
      [20, 40],
      [59, 89],
    ]);
  });

  it('show the whole of a short run', () => {
    const builder = new HistoryBuilder().harness(0, { ev: 'calm' }).harness(9_000, { ev: 'end' });
    expect(windowsOf(runOf(builder.events), [])).to.deep.equal([[0, 9]]);
  });

  it('show the workers that existed in the shown part of the run, sorted by number', () => {
    const builder = new HistoryBuilder();
    for (const number of [10, 2, 1, 3])
      builder.tell(`worker-${number}`, number * 1_000, {
        ev: 'started',
        pid: 1,
        ttlMs: 5_000,
        safetyMarginMs: 200,
      });
    builder.harness(4_000, { ev: 'killed', worker: 'worker-1' }).harness(20_000, { ev: 'end' });
    const whoIn = (from: number, to: number): string[] =>
      inWindow(runOf(builder.events), [from, to]).lives.map(({ who }) => who);
    expect(whoIn(4, 15)).to.deep.equal(['worker-2', 'worker-3', 'worker-10']);
    expect(whoIn(0, 2)).to.deep.equal(['worker-1', 'worker-2', 'worker-3']);
  });

  it('are limited in number, even with many violations', () => {
    const wrong = Array.from({ length: 12 }, (_, index) => ({ at: stamp(index * 10_000) }));
    expect(windowsOf(runOf(builderWith(...KINDS).events), wrong)).to.have.length(6);
  });
});
