import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Cli, runCli } from './cli-process.ts';

/** Resolves when the command has printed a line. */
async function untilPrinted(cli: Cli): Promise<void> {
  const early = cli.ending.then(({ stderr }) => Promise.reject(new Error(`it ended before: ${stderr}`)));
  early.catch(() => undefined);
  while (!cli.stdout.includes('\n')) await Promise.race([once(cli.child.stdout!, 'data'), early]);
}

describe('a program that queuelock once runs', function () {
  this.timeout(60_000);
  let directory: string;
  let backend: readonly string[];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'queuelock-once-'));
    backend = ['--backend', `sqlite:${join(directory, 'locks.db')}`];
  });

  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  const onceFor = (slot: string, ...rest: readonly string[]): readonly string[] => [
    'once',
    'job',
    slot,
    ...backend,
    ...rest,
  ];

  it('is run for a new slot, but not for the same slot again or for an older slot', async () => {
    const print = ['--', 'sh', '-c', 'echo $QUEUELOCK_NAME $QUEUELOCK_SLOT $QUEUELOCK_TOKEN'];
    const first = await runCli(onceFor('1.9.0', '--id', 'first', ...print));
    expect(first).to.include({ code: 0, stderr: '' });
    expect(first.stdout).to.match(/^job 1\.9\.0 \d+\n$/);
    const again = await runCli(onceFor('1.9.0', ...print));
    expect(again).to.include({ code: 0, stdout: '' });
    expect(again.stderr).to.match(/^queuelock: "job" is done for "1\.9\.0", by first at \d{4}-\d\d-\S+Z\n$/);
    expect(await runCli(onceFor('1.10.0', ...print))).to.include({ code: 0, stderr: '' });
    const older = await runCli(onceFor('1.9.1', ...print));
    expect(older).to.include({ code: 3, stdout: '' });
    expect(older.stderr).to.match(/is done for the newer "1\.10\.0"/);
  });

  it('is run again after a failure only with --at-least-once', async () => {
    const fail = ['--', 'sh', '-c', 'echo begun; exit 9'];
    const begun = { code: 9, stdout: 'begun\n' };
    expect(await runCli(onceFor('1', '--at-least-once', ...fail))).to.include(begun);
    expect(await runCli(onceFor('1', '--at-least-once', ...fail))).to.include(begun);
    expect(await runCli(onceFor('2', ...fail))).to.include(begun);
    expect(await runCli(onceFor('2', ...fail))).to.include({ code: 0, stdout: '' });
  });

  it('with --at-least-once, is run by a waiting queuelock process when the first one is killed', async () => {
    const log = join(directory, 'log');
    const slow = [
      '--at-least-once',
      '--ttl',
      '2',
      '--',
      'sh',
      '-c',
      `echo begun >> ${log}; echo up; exec sleep 600`,
    ];
    const quick = ['--at-least-once', '--', 'sh', '-c', `echo begun >> ${log}; echo done >> ${log}`];
    const first = new Cli([...onceFor('1', ...slow)]);
    await untilPrinted(first);
    const others = [1, 2, 3].map(() => new Cli([...onceFor('1', ...quick)]));
    first.child.kill('SIGKILL');
    await first.ending;
    const codes = await Promise.all(others.map(async ({ ending }) => (await ending).code));
    expect(codes).to.deep.equal([0, 0, 0]);
    expect(readFileSync(log, 'utf8')).to.equal('begun\nbegun\ndone\n');
  });

  it('receives the signals of queuelock, and its slot is not recorded as done when a signal stops it', async () => {
    const wait = ['--at-least-once', '--', 'sh', '-c', 'echo up; exec sleep 600'];
    const stopped = new Cli([...onceFor('1', ...wait)]);
    await untilPrinted(stopped);
    stopped.child.kill('SIGTERM');
    expect((await stopped.ending).code).to.equal(143);
    const next = await runCli(onceFor('1', '--at-least-once', '--', 'echo', 'again'));
    expect(next).to.include({ code: 0, stdout: 'again\n' });
  });

  it('is not run when the slot is invalid or the time limit of the wait has passed', async () => {
    expect((await runCli(onceFor('', '--', 'true'))).code).to.equal(2);
    const first = new Cli([...onceFor('1', '--at-least-once', '--', 'sh', '-c', 'echo up; exec sleep 600')]);
    await untilPrinted(first);
    const late = await runCli(onceFor('1', '--at-least-once', '--wait', '50', '--', 'true'));
    expect(late.code).to.equal(69);
    first.child.kill('SIGTERM');
    await first.ending;
  });
});
