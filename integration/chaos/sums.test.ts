import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '@queuelock/harness/check';
import { runOf } from '@queuelock/harness/check/history';
import { HistoryBuilder } from '@queuelock/harness/check/history-builder';
import { LIMITS } from '@queuelock/harness/check/judged';
import { addToSums, readSums, sumsOf, sumsTable, type RunSums } from './sums.ts';

const RUN: RunSums = {
  servers: 'redis 7.0.15',
  seed: 1,
  minutes: 5,
  holds: 900,
  faults: 60,
  unsafe: 0,
  violations: 0,
};

describe('the sums over runs of pnpm chaos', () => {
  let directory: string;
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'queuelock-sums-'))));
  afterEach(() => rm(directory, { recursive: true }));

  it('add up the holds, faults and violations of all histories of one run', () => {
    const overlap = new HistoryBuilder()
      .worker('a', 0)
      .worker('b', 0)
      .attempt('a', { queue: 'q', token: 1, queued: 10, acquired: 20, released: 100 })
      .attempt('b', { queue: 'q', token: 2, queued: 30, acquired: 99, released: 150 })
      .fault(1, { what: 'server killed', target: 'server', from: 40, to: 50 })
      .close(300, 'a', 'b').events;
    const verdict = check(runOf(overlap), LIMITS);
    const sums = sumsOf([verdict, verdict], { servers: 'redis 7.0.15', seed: 3 });
    expect(sums).to.include({ servers: 'redis 7.0.15', seed: 3, holds: 4, faults: 2 });
    expect(sums.unsafe).to.be.at.least(2);
    expect(sums.violations).to.be.at.least(sums.unsafe);
  });

  it('add up the runs of each kind of server from a file with one line per run', async () => {
    const file = join(directory, 'sums.jsonl');
    await addToSums(file, RUN);
    await addToSums(file, { ...RUN, servers: 'consul 1.8.7', violations: 1 });
    await addToSums(file, { ...RUN, seed: 2, holds: 1_200 });
    const { columns, rows } = sumsTable(await readSums(file));
    expect(columns).to.deep.equal(['redis 7.0.15', 'consul 1.8.7']);
    expect(Object.fromEntries(rows.map(({ name, cells }) => [name, cells]))).to.deep.equal({
      runs: ['2', '1'],
      minutes: ['10', '5'],
      'holds checked': ['2,100', '900'],
      faults: ['120', '60'],
      'violations of safety': ['0', '0'],
      'other violations': ['0', '1'],
    });
  });

  it('reject a file with a line that does not describe a run', async () => {
    const file = join(directory, 'other');
    await writeFile(file, `${JSON.stringify(RUN)}\n{"servers":"redis 7.0.15"}\n`);
    const error = await readSums(file).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(TypeError);
    expect((error as Error).message).to.equal(`${file}: line 2 is no run of pnpm chaos`);
  });
});
