import { expect } from 'chai';
import { medianOf } from '@queuelock/harness/median';
import { Cli, parseLines, runCli } from './cli-process.ts';
import { expectGoodDemo } from './good-demo.ts';
import { handsOn, releasesOn } from './signals.ts';

const TIMES = 3;

describe('queuelock demo', function () {
  this.timeout(120_000);

  it('ends within 20 s with the verdict OK after one contender crashed and one left the queue', async () => {
    const tookMs: number[] = [];
    for (let time = 0; time < TIMES; time += 1) tookMs.push((await expectGoodDemo()).tookMs);
    expect(medianOf(tookMs)).to.be.lessThan(20_000);
  });

  it('first prints what it does and on which store, and last the verdict and the next steps', async () => {
    const { code, stdout } = await runCli(['demo', '--contenders', '3', '--rounds', '1']);
    const lines = stdout.trim().split('\n');
    expect(code).to.equal(0);
    expect(lines[0]).to.equal(
      'queuelock demo: 3 contenders, 1 round, on sqlite: (a file, one process for each contender)',
    );
    expect(lines).to.include('verdict: OK');
    expect(lines.at(-1)).to.contain('queuelock demo --backend etcd://127.0.0.1:2379');
  });

  it('releases and ends on SIGINT without a verdict', async () => {
    const cli = new Cli(['demo', '--json']);
    await cli.until('acquired');
    cli.child.kill('SIGINT');
    const { code, stdout } = await cli.ending;
    expect(code).to.equal(130);
    expect(parseLines(stdout).some(({ ev }) => ev === 'verdict')).to.equal(false);
  });
});

describe('queuelock contend', () => {
  it('releases on SIGINT and exits with 130', () => releasesOn('SIGINT', 130));

  it('releases on SIGHUP and exits with 129', () => releasesOn('SIGHUP', 129));
});

describe('queuelock run', () => {
  const run = (...command: string[]): Promise<{ code: number | null; stdout: string }> =>
    runCli(['run', 'job', '--backend', 'memory:', '--', ...command]);

  for (const signal of ['SIGINT', 'SIGHUP'] as const)
    it(`passes ${signal} on to the command and its descendants`, () => handsOn(signal));

  it('exits with 128+n when signal n ended the command', async () => {
    expect(await run('sh', '-c', 'kill -9 $$')).to.include({ code: 137 });
  });

  it('starts the command without a shell', async () => {
    expect(await run('echo', '$HOME', '*', '-n')).to.include({ code: 0, stdout: '$HOME * -n\n' });
  });
});
