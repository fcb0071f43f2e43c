import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Cli, parseLines, runCli } from './cli-process.ts';
import { expectGoodDemo } from './good-demo.ts';
import { handsOn, releasesOn } from './signals.ts';

const MEMORY = ['--backend', 'memory:'];
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

describe('the command queuelock', () => {
  it('prints help with examples, for itself and for each command', async () => {
    for (const args of [[], ['run']]) {
      const { code, stdout, stderr } = await runCli([...args, '--help']);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.match(/Examples:\n {2}\$ queuelock /);
    }
  });

  it('prints its version', async () => {
    expect(await runCli(['--version'])).to.include({ code: 0, stdout: `${version}\n` });
  });

  it('rejects an unknown command in one line, with exit code 2', async () => {
    const { code, stdout, stderr } = await runCli(['rnu']);
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(stderr).to.match(/^queuelock: unknown command 'rnu'[^\n]*\n$/);
  });
});

describe('queuelock contend', () => {
  it('prints a history whose lines have exactly the documented fields', async () => {
    const { code, stdout, stderr } = await runCli([
      'contend',
      'stock',
      ...MEMORY,
      '--id',
      'me',
      '--count',
      '2',
      '--json',
    ]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const lines = parseLines(stdout);
    expect(lines.map(({ ev, n }) => `${ev} ${String(n)}`)).to.deep.equal(
      [1, 2].flatMap((n) =>
        ['requesting', 'enqueued', 'acquired', 'released'].map((ev) => `${ev} ${String(n)}`),
      ),
    );
    expect(lines.slice(0, 4).map((line) => Object.keys(line).join())).to.deep.equal([
      't,id,ev,name,n',
      't,id,ev,name,key,token,n',
      't,id,ev,name,key,token,n',
      't,id,ev,name,key,token,n,t_done',
    ]);
    const stamps = lines.flatMap(({ t, t_done }) => (t_done === undefined ? [t] : [t, t_done])).map(BigInt);
    expect(stamps).to.deep.equal([...stamps].sort((a, b) => (a < b ? -1 : 1)));
    expect(lines.every(({ id, name }) => id === 'me' && name === 'stock')).to.equal(true);
  });

  it('uses one SQLite file for all processes of the user when no backend is given', async () => {
    const state = mkdtempSync(join(tmpdir(), 'queuelock-state-'));
    const env = { XDG_STATE_HOME: state };
    const holder = new Cli(['contend', 'stock', '--json', '--hold', '60000'], env);
    await holder.until('acquired');
    const waiter = new Cli(['contend', 'stock', '--json'], env);
    await waiter.until('enqueued');
    holder.child.kill('SIGTERM');
    expect(await waiter.ending).to.include({ code: 0, stderr: '' });
    await holder.ending;
    rmSync(state, { recursive: true });
  });

  it('prints the history as text when --json is not set, and reads the backend from the environment', async () => {
    const { code, stdout } = await runCli(['contend', 'stock', '--id', 'me'], { QUEUELOCK_URL: 'memory:' });
    expect(code).to.equal(0);
    expect(stdout.trim().split('\n')).to.have.length(4);
    expect(stdout).to.match(/me {2}holds the lock, #\d+, fencing token \d+\n/);
  });

  it('releases on SIGTERM and exits with 143', () => releasesOn('SIGTERM', 143));

  it('releases and exits with the code of SIGPIPE when the reader of its output closes the pipe', async () => {
    const cli = new Cli(['contend', 'stock', ...MEMORY, '--count', '1000000', '--json']);
    await cli.until('released');
    cli.child.stdout?.destroy();
    const [code] = (await once(cli.child, 'exit')) as [number];
    expect(code).to.equal(141);
  });

  it('loses no line when its output is read slowly', async () => {
    const cli = new Cli(['contend', 'stock', ...MEMORY, '--count', '3000', '--json']);
    await cli.until('released');
    const output = cli.child.stdout!;
    output.pause();
    // Waits until the read buffer of the test process is full. From then on the test reads nothing from the
    // pipe, so `queuelock contend` has to wait before it writes more.
    while (output.readableLength < output.readableHighWaterMark) await new Promise(setImmediate);
    expect(cli.child.exitCode).to.equal(null);
    output.resume();
    const { code, stdout } = await cli.ending;
    expect(code).to.equal(0);
    expect(parseLines(stdout)).to.have.length(12_000);
  });
});

describe('queuelock run', () => {
  const run = (...command: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
    runCli(['run', 'job', ...MEMORY, '--', ...command]);

  it('passes the name of the lock, the fencing token and the key of the entry to the command', async () => {
    const { code, stdout } = await run('sh', '-c', 'echo "$QUEUELOCK_NAME $QUEUELOCK_TOKEN $QUEUELOCK_KEY"');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^job (\d+) job\/\1\n$/);
  });

  it("exits with the command's exit code", async () => {
    expect(await run('sh', '-c', 'exit 7')).to.include({ code: 7, stderr: '' });
  });

  it('exits with 127 or 126 when the command cannot be started', async () => {
    const missing = await run('no-such-program-here');
    expect(missing).to.include({ code: 127 });
    expect(missing.stderr).to.match(/^queuelock: cannot start "no-such-program-here": [^\n]*\n$/);
    expect(await run('/dev/null')).to.include({ code: 126 });
  });

  it('passes SIGTERM on to the command and its descendants', () => handsOn('SIGTERM'));
});

describe('queuelock demo', () => {
  it('ends with the verdict OK after one contender crashed and one left the queue', async () => {
    await expectGoodDemo();
  });
});
