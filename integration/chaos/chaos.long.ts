import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { STORES, timingOf } from './profiles.ts';
import { scheduleOf, type Schedule } from './schedule.ts';
import { expectSafe } from './verdicts.ts';

const SCRIPT = fileURLToPath(new URL('chaos.ts', import.meta.url));
const SEED = '20';
const SHORT_MINUTES = String(20 / 60);
const UNSAFE = /, [1-9]\d* of safety;|SafetyViolation/;
const EVICTION_MS = Math.max(...STORES.map((store) => timingOf(store, 'fast', false).ttlMs));

interface Ran {
  readonly code: number | null;
  readonly printed: string;
  readonly errors: string;
}

describe('pnpm chaos', function () {
  this.timeout(600_000);
  let directory: string;
  let running: { readonly process: ChildProcess; readonly ran: Promise<Ran> } | undefined;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'queuelock-chaos-test-'))));
  afterEach(async function () {
    // The child processes of `pnpm chaos` end when it is killed.
    running?.process.kill('SIGKILL');
    await expectLeftSafe((await running?.ran)?.printed ?? '');
    // Keeps the report of the run if the test failed.
    if (this.currentTest?.state !== 'failed') rmSync(directory, { recursive: true });
  });

  function start(...args: string[]): NonNullable<typeof running> {
    const process_ = spawn(process.execPath, [...process.execArgv, SCRIPT, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(process_, 'close');
    const streams = Promise.all([text(process_.stdout), text(process_.stderr)]);
    const ran = Promise.all([ended, streams]).then(([[code], [printed, errors]]): Ran => {
      return { code: code as number | null, printed, errors };
    });
    return (running = { process: process_, ran });
  }

  function reportIn(name = ''): { readonly text: string; readonly schedule: Schedule } {
    const read = (file: string): string => readFileSync(join(directory, name, file), 'utf8');
    expect(read('timeline.svg')).to.match(/^<svg /);
    return { text: read('report.md'), schedule: JSON.parse(read('schedule.json')) as Schedule };
  }

  for (const store of STORES) {
    it(`finds no violation in 20 seconds of faults on ${store}, and reports what it did`, async () => {
      const args = ['--minutes', SHORT_MINUTES, '--seed', SEED, '--backend', store, '--out', directory];
      const { printed, errors } = expectRight(await start(...args).ran);
      expect(errors).to.equal('');
      const { text: report, schedule } = reportIn();
      expect(report).to.include('No violation was found.').and.to.include(`Seed: ${SEED}`);
      expect(schedule).to.deep.equal(scheduleOf(schedule));
      expect(printed).to.include('holds checked');
      expect(existsSync(join(directory, 'histories'))).to.equal(false);
    });
  }

  it('on SIGINT, ends all faults and still checks the history', async () => {
    const { process: chaos, ran } = start(
      '--minutes',
      '30',
      '--seed',
      SEED,
      '--backend',
      'etcd',
      '--out',
      directory,
      '--keep',
      '--recipes',
    );
    await printed(chaos, /[1-9]\d* faults \|/);
    chaos.kill('SIGINT');
    expectRight(await ran);
    expect(reportIn().text)
      .to.include('No violation was found.')
      .and.to.include('read lock of several names');
    expect(existsSync(join(directory, 'histories', 'harness.jsonl'))).to.equal(true);
  });

  it('rejects wrong arguments before it starts anything', async () => {
    const { code, printed: reported, errors } = await start('--minutes', 'ten').ran;
    expect(code).to.equal(2);
    expect(reported).to.equal('');
    expect(errors).to.include('--minutes: "ten" is not a number').and.to.include('--help');
  });

  it('prints its help', async () => {
    const { code, printed: reported } = await start('--help').ran;
    expect(code).to.equal(0);
    expect(reported).to.include('--seed').and.to.include('--backend').and.to.include('Exit code');
  });
});

/** Expects that the run ended without violations. */
function expectRight(ran: Ran): Ran {
  const all = `${ran.printed}${ran.errors}`;
  safely(() => expect(all).to.not.match(UNSAFE));
  expect(ran.code, all).to.equal(0);
  return ran;
}

/** Expects that the histories of an aborted run contain no violation of exclusion, order or tokens. */
async function expectLeftSafe(printed: string): Promise<void> {
  const directories = [...printed.matchAll(/histories: (\S+)/g)].map(([, directory = '']) => directory);
  for (const directory of directories.filter((directory) => existsSync(directory)))
    await expectSafe(directory, { evictionMs: EVICTION_MS });
}

/** Resolves when the process has printed text that matches the pattern `what`. */
async function printed({ stdout }: ChildProcess, what: RegExp): Promise<void> {
  let all = '';
  return new Promise((resolve, reject) => {
    stdout!.on('data', (chunk) => {
      all += String(chunk);
      if (what.test(all)) resolve();
    });
    stdout!.once('close', () => reject(new Error(`it ended before it printed ${String(what)}: ${all}`)));
  });
}
