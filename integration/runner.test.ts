import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import {
  toRunAgain,
  broken,
  NOTHING,
  settle,
  titlesOf,
  type Failure,
  type Outcome,
  type Settled,
} from '../.ci/outcome.ts';
import { divide, gate, long, PARTS } from '../.ci/suites.ts';

const MOCHA = join(dirname(createRequire(import.meta.url).resolve('mocha/package.json')), 'lib/cli/cli.js');
const REPORTER = fileURLToPath(new URL('../.ci/reporter.mjs', import.meta.url));
const SOURCE = `
  class SafetyViolation extends Error { name = 'SafetyViolation'; }
  describe('a sample suite', () => {
    it('passes', () => {});
    it('passes (slowly)', () => {});
    it('fails', () => { throw new Error('on purpose'); });
    it('violates exclusion', () => { throw new Error('wrapped', { cause: new SafetyViolation('two at once') }); });
    it('has a skipped test', function () { this.skipReason = 'no server'; this.skip(); });
  });
  describe('a suite with a broken hook', () => {
    beforeEach(() => { throw new Error('broken hook'); });
    it('has a first test', () => {});
    it('has a second test', () => {});
  });
`;

describe('the report of the test run', () => {
  let directory: string;
  let outcome: Outcome;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'queuelock-runner-'));
    const file = join(directory, 'day.mjs');
    writeFileSync(file, SOURCE);
    const child = fork(MOCHA, ['--no-config', '--reporter', REPORTER, file], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    [outcome] = (await once(child, 'message')) as [Outcome];
  });

  after(() => {
    rmSync(directory, { recursive: true });
  });

  it('names the passed tests, and why a test was skipped', () => {
    expect(outcome.passed.map(({ title }) => title)).to.deep.equal([
      'a sample suite passes',
      'a sample suite passes (slowly)',
    ]);
    expect(outcome.skipped.map(({ title, reason }) => [title, reason])).to.deep.equal([
      ['a sample suite has a skipped test', 'no server'],
    ]);
  });

  it('names the failed tests with the cause, and the suite of a failed hook', () => {
    const failures = outcome.failures.map(({ title, suite }) => [title, suite]);
    expect(failures).to.deep.equal([
      ['a sample suite fails', undefined],
      ['a sample suite violates exclusion', undefined],
      ['a suite with a broken hook "before each" hook for "has a first test"', 'a suite with a broken hook'],
    ]);
    expect(outcome.failures[0]?.cause).to.include('Error: on purpose');
    for (const { file } of outcome.failures) expect(file).to.match(/day\.mjs$/);
  });

  it('distinguishes a safety violation from other failures, even if it is only the `cause` of another error', () => {
    expect(outcome.failures.map(({ isUnsafe }) => isUnsafe)).to.deep.equal([false, true, false]);
  });
});

// Source of a test that leaves a process running. That process keeps the output of the test run open after
// the test has ended.
const LEAVES_ONE_BEHIND = `
  import { spawn } from 'node:child_process';
  it('names a sample test that leaves a process running', () => {
    const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'], { stdio: 'inherit' });
    left.unref();
    console.log('left=' + left.pid);
  });
`;
const RUNS_IT = `
  import { runMocha } from ${JSON.stringify(fileURLToPath(new URL('../.ci/mocha-run.ts', import.meta.url)))};
  const [file] = process.argv.slice(-1);
  const run = { name: 'a suite with a broken hook', files: [file], options: ['--no-config'], env: {}, printAfter: Promise.resolve(), leftGraceMs: 200 };
  const { passed, failures } = await runMocha(run);
  process.send({ passed: passed.length, failures: failures.map(({ title }) => title) });
`;

describe('a process that a test leaves running', () => {
  it('is killed, and counts as a failure', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'queuelock-runner-'));
    const file = join(directory, 'night.mjs');
    writeFileSync(file, LEAVES_ONE_BEHIND);
    const child = spawn(
      process.execPath,
      [...process.execArgv, '--input-type=module', '--eval', RUNS_IT, file],
      { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] },
    );
    let printed = '';
    child.stdout?.on('data', (chunk) => (printed += String(chunk)));
    const closed = once(child, 'close');
    const [reported] = (await once(child, 'message')) as [unknown];
    await closed;
    rmSync(directory, { recursive: true });
    expect(reported).to.deep.equal({
      passed: 1,
      failures: ['a suite with a broken hook: a process that a test began was left running'],
    });
    const left = Number(/left=(\d+)/.exec(printed)?.[1]);
    expect(left).to.be.above(0);
    // Linux shows no executable (`/proc/<pid>/exe`) for a process that has ended, even if its parent has not
    // reaped it yet.
    expect(existsSync(`/proc/${left}/exe`)).to.equal(false);
  }).timeout(60_000);
});

describe('a failed test', () => {
  const failed = (title: string, more: Partial<Failure> = {}): Failure => ({
    file: 'a.test.ts',
    title,
    cause: 'late',
    isUnsafe: false,
    ...more,
  });
  const after = (...failures: Failure[]): Settled => ({ ...NOTHING, failures });
  const passed = (...titles: string[]): Outcome => ({
    ...NOTHING,
    passed: titles.map((title) => ({ file: 'a.test.ts', title })),
  });

  it('is run again if only a few tests failed', () => {
    expect(toRunAgain(after(failed('a'), failed('b'), failed('c')))).to.have.length(3);
    expect(toRunAgain(after(failed('a'), failed('b'), failed('c'), failed('d')))).to.be.empty;
  });

  it('is not run again after a safety violation, or when its whole mocha process failed', () => {
    expect(toRunAgain(after(failed('a'), failed('b', { isUnsafe: true })))).to.be.empty;
    expect(toRunAgain({ ...NOTHING, ...broken('mocha ended early') })).to.be.empty;
  });

  it('counts as flaky when it passes in a second run on its own', () => {
    const failure = failed('a');
    const settled = settle(after(failure), failure, passed('a'));
    expect(settled).to.deep.equal({ ...NOTHING, ...passed('a'), flaky: [failure] });
  });

  it('stays failed when it fails again on its own, and is reported with the cause of each run', () => {
    const failure = failed('a');
    const settled = settle(after(failure), failure, after(failed('a', { cause: 'wrong', isUnsafe: true })));
    expect(settled.flaky).to.be.empty;
    expect(settled.failures).to.have.length(1);
    expect(settled.failures[0]?.cause).to.match(/late[^]*wrong/);
    expect(settled.failures[0]?.isUnsafe).to.equal(true);
  });

  it('stays failed when it cannot be run on its own', () => {
    const failure = failed('a');
    expect(settle(after(failure), failure, NOTHING).failures).to.have.length(1);
  });

  it('is run again, and tests that pass in both runs are counted once', () => {
    const failure = failed('night "after each" hook', { suite: 'night' });
    const settled = settle(
      { ...after(failure), ...passed('night a') },
      failure,
      passed('night a', 'night b'),
    );
    expect(settled.passed.map(({ title }) => title)).to.deep.equal(['night a', 'night b']);
  });

  it('is reported with the name of the backend, if it belongs to the conformance suite', () => {
    const failure = failed('x');
    const fact = { backend: 'etcd', title: 'x' };
    const first: Settled = { ...after(failure), conformance: [{ ...fact, state: 'failed' }] };
    const again: Outcome = { ...passed('x'), conformance: [{ ...fact, state: 'passed' }] };
    expect(settle(first, failure, again).conformance).to.deep.equal([{ ...fact, state: 'passed' }]);
  });

  it('is selected by its full title when it is run again', () => {
    const test = new RegExp(titlesOf(failed('a sample suite passes (slowly)')));
    expect(
      ['a sample suite passes (slowly)', 'a sample suite passes (slowly) now'].map((title) =>
        test.test(title),
      ),
    ).to.deep.equal([true, false]);
    const hook = new RegExp(
      titlesOf(
        failed('a suite with a broken hook "before each" hook', { suite: 'a suite with a broken hook' }),
      ),
    );
    expect(
      ['a suite with a broken hook ends', 'a suite with a broken hooks ends'].map((title) =>
        hook.test(title),
      ),
    ).to.deep.equal([true, false]);
  });
});

describe('the groups of test files', () => {
  it('contain each file once, in the first group whose pattern matches', () => {
    const rooms = [
      ['first', /a/],
      ['rest', /^/],
    ] as const;
    expect(divide(['ab', 'b', 'a'], rooms)).to.deep.equal([
      { name: 'first', files: ['ab', 'a'] },
      { name: 'rest', files: ['b'] },
    ]);
  });

  it('belong to `pnpm test` or to a part of the long run', () => {
    const inGate = gate().flatMap(({ files }) => files);
    expect(inGate).to.include.members(['integration/runner.test.ts', 'packages/core/test/lock.test.ts']);
    expect(new Set(inGate).size).to.equal(inGate.length);
    for (const part of PARTS) {
      const groups = long(part);
      expect(groups, part).not.to.be.empty;
      for (const { files } of groups) expect(inGate).not.to.include.members([...files]);
    }
  });
});
