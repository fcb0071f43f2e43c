import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import { fromUrl } from '@queuelock/sqlite';
import { expect } from 'chai';
import { filter, firstValueFrom, type Subscription } from 'rxjs';
import { fileUrl } from '../src/config/own-file.ts';
import { Cli, runCli, type Ending } from './cli-process.ts';

/**
 * Text that would set the terminal's title, clear the screen, forge a line of output, reverse the text after
 * it, and hide characters.
 */
const HOSTILE = 'a\u001B]0;t\u0007\u009B2J\nFORGED\r\u0085\u2028\u202Eb\u2066c\u200B\uFEFF\u007F';
const RAW = /[\p{C}\p{Zl}\p{Zp}]/u;
const WORK = ['sh', '-c', 'echo begun; exec sleep 600'];
const NAME = `queue ${HOSTILE}`;

/** Checks that no line contains control characters, and that no line begins with the forged text. */
function expectHarmless({ stdout, stderr }: Pick<Ending, 'stdout' | 'stderr'>): void {
  for (const line of `${stdout}${stderr}`.split('\n')) {
    expect(RAW.test(line), JSON.stringify(line)).to.equal(false);
    expect(line).to.not.match(/^FORGED/);
  }
}

describe('hostile text of another process', function () {
  this.timeout(60_000);
  let directory: string;
  let backend: string[];
  let client: LockClient;
  let holder: Ownership;
  let requesting: Subscription;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'queuelock-text-'));
    const url = fileUrl(join(directory, 'locks.db'));
    backend = ['--backend', url];
    client = createLockClient(fromUrl(url), { owner: HOSTILE });
    holder = await client.acquire(NAME, { metadata: { [HOSTILE]: HOSTILE } });
    const request = { reason: HOSTILE, withinMs: 600_000 };
    requesting = client.claim(NAME, { request, metadata: { [HOSTILE]: HOSTILE } }).subscribe();
    await seen(NAME, 2);
    for (const { requests$ } of [holder]) requests$.subscribe((each) => void each.decline(HOSTILE));
  });
  after(async () => {
    requesting.unsubscribe();
    await client.close();
    rmSync(directory, { recursive: true });
  });

  async function seen(name: string, entries: number) {
    const state$ = client.watch(name).pipe(filter((state) => state.entries.length === entries));
    return (await firstValueFrom(state$)).entries;
  }

  const shown: Record<string, readonly string[]> = {
    who: ['who', NAME],
    'who --json': ['who', NAME, '--json'],
    'who of an empty queue': ['who', `no ${NAME}`],
    ls: ['ls'],
    'ls --json': ['ls', '--json'],
    top: ['top', '--count', '1', '--every', '100'],
    'top --json': ['top', '--count', '1', '--every', '100', '--json'],
    leader: ['leader', NAME],
    'leader --json': ['leader', NAME, '--json'],
    'leader of an empty queue': ['leader', `no ${NAME}`],
    history: ['history', NAME],
    'history --json': ['history', NAME, '--json'],
    'kick without such a token': ['kick', NAME, '--token', '999999', '--reason', 'test'],
    'run --try': ['run', NAME, '--try', '--', 'true'],
    'run of a program that is missing': ['run', 'free', '--', HOSTILE],
    ask: ['ask', NAME, '--reason', HOSTILE],
    'ask --json': ['ask', NAME, '--reason', HOSTILE, '--json'],
    contend: ['contend', `no ${NAME}`, '--id', HOSTILE],
    'contend --json': ['contend', `no ${NAME}`, '--id', HOSTILE, '--json'],
    'an unknown option': ['who', NAME, `--${HOSTILE}`],
    'an unknown command': [HOSTILE],
    'an unknown profile': ['who', NAME, '--profile', HOSTILE],
  };
  for (const [what, [command = '', ...args]] of Object.entries(shown)) {
    it(`is escaped by queuelock ${what}`, async () => {
      const named = args.includes('--profile') || command === HOSTILE ? [] : backend;
      const ending = await runCli([command, ...named, ...args]);
      expectHarmless(ending);
      expect(ending.stdout + ending.stderr).to.contain('FORGED');
    });
  }

  it('is escaped by the commands queuelock doctor and queuelock deadlocks', async () => {
    expectHarmless(await runCli(['doctor', ...backend]));
    expectHarmless(await runCli(['deadlocks', ...backend]));
  });

  it('is escaped by queuelock watch', async () => {
    const cli = new Cli(['watch', NAME, ...backend]);
    while (cli.stdout.split('\n').length < 3) await once(cli.child.stdout!, 'data');
    cli.child.kill('SIGTERM');
    expectHarmless(await cli.ending);
    expect(cli.stdout).to.contain('FORGED');
  });

  const evicted: Record<string, (name: string) => readonly string[]> = {
    run: (name) => ['run', ...backend, name, '--', ...WORK],
    'run --verbose': (name) => ['run', ...backend, name, '--verbose', '--', ...WORK],
    elect: (name) => ['elect', ...backend, name, HOSTILE],
    'elect --json': (name) => ['elect', ...backend, name, HOSTILE, '--json'],
    contend: (name) => ['contend', ...backend, name, '--hold', '600000'],
    'contend --json': (name) => ['contend', ...backend, name, '--hold', '600000', '--json'],
  };
  for (const [what, argsFor] of Object.entries(evicted)) {
    it(`is escaped by queuelock ${what} in the reason of an eviction`, async () => {
      const name = `${what} ${NAME}`;
      const cli = new Cli(argsFor(name));
      while (!/begun|leads|elected|holds|acquired/.test(cli.stdout)) await once(cli.child.stdout!, 'data');
      const [entry] = await seen(name, 1);
      await client.evict(name, entry!, { reason: HOSTILE });
      const ending = await cli.ending;
      expectHarmless(ending);
      expect(ending.stdout + ending.stderr).to.contain('FORGED');
      const past = await runCli(['history', name, ...backend]);
      expectHarmless(past);
    });
  }

  it('is shortened by `queuelock who` if it is long', async () => {
    const flood = await client.acquire('flood', { value: 'x'.repeat(1_000) });
    const { stdout } = await runCli(['who', 'flood', ...backend]);
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).to.be.below(400);
    await flood.release();
  });
});
