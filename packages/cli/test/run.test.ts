import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Cli, runCli } from './cli-process.ts';

const MEMORY = ['--backend', 'memory:'];

/** Resolves when the command has printed the text. Rejects when the command ends before. */
async function untilPrinted(cli: Cli, text: string): Promise<void> {
  const early = cli.ending.then(({ stderr }) => Promise.reject(new Error(`it ended before: ${stderr}`)));
  early.catch(() => undefined);
  while (!cli.stdout.includes(text)) await Promise.race([once(cli.child.stdout!, 'data'), early]);
}

describe('a command under a lock', function () {
  this.timeout(60_000);
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'queuelock-run-'));
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  it('is ended with all its descendants by the watchdog when queuelock is killed', async () => {
    const stubborn = `trap '' TERM; sh -c "trap '' TERM; echo up; sleep 600"`;
    const cli = new Cli(['run', 'job', ...MEMORY, '--grace', '100', '--', 'sh', '-c', stubborn]);
    await untilPrinted(cli, 'up');
    cli.child.kill('SIGKILL');
    // The output of the command closes when the last process that has it open has ended.
    const { signal, stderr } = await cli.ending;
    expect(signal).to.equal('SIGKILL');
    expect(stderr).to.match(
      /its watchdog ends the command[^\n]*\nqueuelock: its watchdog killed the command/,
    );
  });

  it('gets the elected value and the epoch of queuelock elect in its environment', async () => {
    const print = ['sh', '-c', 'echo $QUEUELOCK_NAME $QUEUELOCK_VALUE $QUEUELOCK_EPOCH'];
    const elected = await runCli(['elect', 'chief', 'host:1', ...MEMORY, '--epoch', '4', '--', ...print]);
    expect(elected).to.include({ code: 0, stdout: 'chief host:1 4\n', stderr: '' });
  });

  it('is run again after a failure with --keep, until it succeeds', async () => {
    const file = join(directory, 'begun');
    const second = ['sh', '-c', `echo $QUEUELOCK_TOKEN; [ -e ${file} ] || { : > ${file}; exit 9; }`];
    const { code, stdout, stderr } = await runCli(['run', 'job', ...MEMORY, '--keep', '--', ...second]);
    expect(code).to.equal(0);
    expect(stderr).to.match(
      /^queuelock: the command ended with code 9; joins the queue again in 0\.\d s \(--keep\)\n$/,
    );
    const [first, next] = stdout.trim().split('\n').map(Number);
    expect(next).to.be.greaterThan(first!);
  });

  it('may be omitted with queuelock elect, which then leads until a signal arrives', async () => {
    const cli = new Cli(['elect', 'chief', 'a\u001bb', ...MEMORY]);
    await untilPrinted(cli, '\n');
    cli.child.kill('SIGTERM');
    const { code, stdout } = await cli.ending;
    expect(code).to.equal(143);
    expect(stdout).to.match(/^leads chief as a\\u001bb, fencing token \d+\n$/);
  });

  it('cannot read a password of the store from the command line of queuelock', async function () {
    if (process.platform !== 'linux') {
      this['skipReason'] = 'only Linux shows the command line of a process in /proc';
      this.skip();
    }
    const read = ['sh', '-c', 'cat /proc/$PPID/cmdline'];
    const { code, stdout } = await runCli([
      'run',
      'job',
      '--id',
      'x://me:s3cret@h',
      ...MEMORY,
      '--',
      ...read,
    ]);
    expect(code).to.equal(0);
    expect(stdout).to.include('x://h').and.not.include('s3cret');
  });
});

describe('queuelock leader', () => {
  it('reports when an election has no leader', async () => {
    expect(await runCli(['leader', 'chief', ...MEMORY])).to.include({
      code: 3,
      stdout: '',
      stderr: 'queuelock: there is no leader of "chief"\n',
    });
    const { stdout } = await runCli(['leader', 'chief', ...MEMORY, '--json']);
    expect(JSON.parse(stdout)).to.deep.equal({ name: 'chief', status: 'live', leader: null });
  });
});
