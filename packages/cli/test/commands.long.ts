import { expect } from 'chai';
import { medianOf } from '../../../integration/median.ts';
import { runCli } from './cli-process.ts';
import { expectGoodDemo } from './good-demo.ts';

const TIMES = 3;

describe('queuelock demo', function () {
  this.timeout(120_000);

  it('ends within 20 s with a verdict that is OK, one crash and one that gave up', async () => {
    const tookMs: number[] = [];
    for (let time = 0; time < TIMES; time += 1) tookMs.push((await expectGoodDemo()).tookMs);
    expect(medianOf(tookMs)).to.be.lessThan(20_000);
  });

  it('says first what it does and on what, and last the verdict and what to try next', async () => {
    const { code, stdout } = await runCli(['demo', '--contenders', '3', '--rounds', '1']);
    const lines = stdout.trim().split('\n');
    expect(code).to.equal(0);
    expect(lines[0]).to.equal(
      'queuelock demo: 3 contenders, 1 round, on sqlite: (a file, and a process each)',
    );
    expect(lines).to.include('verdict: OK');
    expect(lines.at(-1)).to.contain('queuelock demo --backend etcd://127.0.0.1:2379');
  });
});
