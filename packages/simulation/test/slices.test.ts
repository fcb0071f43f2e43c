import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { countSeeds, noProgress, slicesLeft, withSlice } from '../src/slices/progress.ts';

describe('the progress of a long simulation', () => {
  const nothing = { events: 0, grants: 0, violations: [] };
  const after = (...slices: readonly (readonly [number, number])[]) =>
    slices.reduce(
      (progress, [from, to]) => withSlice(progress, { from, to }, nothing),
      noProgress('etcd', 'abc'),
    );

  it('merges slices of seeds that touch or overlap', () => {
    const progress = after([10, 20], [1, 5], [20, 30], [4, 6]);
    expect(progress.played).to.deep.equal([
      { from: 1, to: 6 },
      { from: 10, to: 30 },
    ]);
    expect(countSeeds(progress)).to.equal(25);
  });

  it('returns the seeds that were not run, in slices of the given size', () => {
    expect(slicesLeft(after([3, 5], [8, 100]), { from: 1, to: 12 }, 2)).to.deep.equal([
      { from: 1, to: 3 },
      { from: 5, to: 7 },
      { from: 7, to: 8 },
    ]);
    expect(slicesLeft(after(), { from: 1, to: 4 }, 2)).to.deep.equal([
      { from: 1, to: 3 },
      { from: 3, to: 4 },
    ]);
    expect(slicesLeft(after([1, 50]), { from: 7, to: 9 }, 2)).to.deep.equal([]);
  });

  it('adds up the results of slices, with violations sorted by seed', () => {
    const one = { seed: 9, rule: 'exclusive', detail: '' };
    const other = { seed: 4, rule: 'order', detail: '' };
    const progress = withSlice(
      withSlice(noProgress('etcd', 'abc'), { from: 6, to: 10 }, { events: 5, grants: 2, violations: [one] }),
      { from: 1, to: 6 },
      { events: 7, grants: 1, violations: [other] },
    );
    expect(progress).to.include({ events: 12, grants: 3 });
    expect(progress.violations).to.deep.equal([other, one]);
  });
});

describe('a long simulation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'queuelock-simulate-'));
  after(() => rmSync(folder, { recursive: true }));

  it('reports its progress from any first seed, and ends without an error when it is killed', async () => {
    const root = fileURLToPath(new URL('../../../', import.meta.url));
    const loader = ['--conditions=@queuelock/source', '--import', `${root}.ci/tsx.mjs`];
    const seeds = ['etcd', '--from', '1', '--to', '1000001', '--processes', '1'];
    const args = [...loader, `${root}packages/simulation/src/slices/simulate.ts`, ...seeds];
    const run = spawn(process.execPath, [...args, '--state', join(folder, 'state.json')]);
    const errors = text(run.stderr);
    const closed = once(run, 'close');
    const lines = createInterface(run.stdout);
    const first = once(lines, 'line', { signal: AbortSignal.timeout(50_000) });
    const [line] = (await first.finally(() => run.kill('SIGKILL'))) as [string];
    await closed;
    expect(line).to.match(/^etcd: 50 seeds, \d+ events .* 0 violations$/);
    expect(await errors).to.equal('');
  }).timeout(60_000);
});
