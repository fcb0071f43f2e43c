// Runs the tests and sums them up: node --import tsx/esm .ci/test.ts [unit|integration|faults] [mocha options]
// The last line is `N passed, N failed, N skipped`; the exit code is 0 only if something ran and nothing failed.
import { fork, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { conformanceTable, type ConformanceResult } from './conformance-table.ts';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly { readonly title: string; readonly reason: string }[];
  readonly conformance: readonly ConformanceResult[];
}

const PARTS = {
  unit: ['packages/*/test/**/*.test.ts'],
  integration: [
    'integration/**/*.test.ts',
    ...ignoring('integration/node_modules/**', 'integration/chaos/**'),
  ],
  faults: ['integration/chaos/**/*.test.ts'],
} as const;
type Part = keyof typeof PARTS;

function ignoring(...patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => ['--ignore', pattern]);
}

const EXIT_GRACE_MS = 30_000;
const NOTHING: Counts = { passed: 0, failed: 0, skipped: [], conformance: [] };
const require = createRequire(import.meta.url);
const mochaCli = join(dirname(require.resolve('mocha/package.json')), 'lib/cli/cli.js');

function nodeOptions(): string[] {
  const config = JSON.parse(readFileSync('.mocharc.json', 'utf8')) as { 'node-option': string[] };
  return config['node-option'].map((option) => `--${option}`);
}

/** One more failure, with its cause printed: what mocha itself could not count. */
function plusFailure(counts: Counts, cause: string): Counts {
  console.error(`FAILED: ${cause}`);
  return { ...counts, failed: counts.failed + 1 };
}

interface MochaRun {
  readonly part: Part;
  readonly options: readonly string[];
  readonly ranAgainst: string;
  /** What it prints is kept until this has happened. */
  readonly printAfter?: Promise<unknown>;
}

function runMocha({ part, options, ranAgainst, printAfter }: MochaRun): Promise<Counts> {
  const child = fork(mochaCli, [...PARTS[part], '--reporter', './.ci/reporter.mjs', ...options], {
    execArgv: nodeOptions(),
    env: { ...process.env, QUEUELOCK_RAN_AGAINST: ranAgainst },
    silent: printAfter !== undefined,
  });
  const printed = printAfter === undefined ? Promise.resolve() : printLater(child, printAfter);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal));
  let counts: Counts | undefined;
  let stayed = false;
  child.once('message', (message) => {
    counts = message as Counts;
    setTimeout(() => {
      stayed = child.kill('SIGKILL');
    }, EXIT_GRACE_MS).unref();
  });
  const counted = new Promise<Counts>((resolve) => {
    child.once('close', (code, signal) => {
      if (counts === undefined)
        resolve(plusFailure(NOTHING, `${part}: mocha ended early (${String(signal ?? code)})`));
      else if (stayed) resolve(plusFailure(counts, `${part}: the process did not end after its last test`));
      else if (code === 0 || counts.failed > 0) resolve(counts);
      else
        resolve(
          plusFailure(counts, `${part}: mocha ended with ${String(signal ?? code)} after its last test`),
        );
    });
  });
  return printed.then(() => counted);
}

/** Resolves when all was printed. The pipes are read all the time, so that the child is never held up. */
async function printLater({ stdout, stderr }: ChildProcess, after: Promise<unknown>): Promise<void> {
  const pairs = [
    [stdout, process.stdout],
    [stderr, process.stderr],
  ] as const;
  const print = async ([from, to]: (typeof pairs)[number]): Promise<void> => {
    const kept = new PassThrough({ highWaterMark: Number.MAX_SAFE_INTEGER });
    from?.pipe(kept);
    await Promise.allSettled([after]);
    kept.pipe(to, { end: false });
    await finished(kept);
  };
  await Promise.all(pairs.map(print));
}

const CHOICE = /^(-g|-f|--grep|--fgrep)(=|$)/;
const ON_ZOOKEEPER = ['--grep', '/zookeeper/i'];

/** Servers take time more than processors: the tests of one store run at the same time as those of the other. */
async function run(part: Part, options: readonly string[], ranAgainst: string): Promise<Counts[]> {
  if (options.some((option) => CHOICE.test(option))) return [await runMocha({ part, options, ranAgainst })];
  const first = runMocha({ part, options: [...options, ...ON_ZOOKEEPER, '--invert'], ranAgainst });
  const onZooKeeper = [...options, ...ON_ZOOKEEPER];
  const second = runMocha({ part, options: onZooKeeper, ranAgainst, printAfter: first });
  return Promise.all([first, second]);
}

function plus(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: [...a.skipped, ...b.skipped],
    conformance: [...a.conformance, ...b.conformance],
  };
}

function printRanAgainst(file: string): void {
  if (!existsSync(file)) return;
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const entries = [...new Set(lines)].map((line) => JSON.parse(line) as { what: string; against: string });
  const width = Math.max(...entries.map(({ what }) => what.length));
  console.log('\nRan against');
  for (const { what, against } of entries) console.log(`  ${what.padEnd(width)}  ${against}`);
}

function printSummary(total: Counts): void {
  if (total.skipped.length > 0) console.log('\nSkipped');
  for (const { title, reason } of total.skipped) console.log(`  ${title}: ${reason}`);
  const { passed, failed, skipped } = total;
  console.log(`\n${String(passed)} passed, ${String(failed)} failed, ${String(skipped.length)} skipped`);
}

const args = process.argv.slice(2);
const chosen = (Object.keys(PARTS) as Part[]).filter((part) => part === args[0]);
const options = args.slice(chosen.length);
const parts = chosen.length > 0 ? chosen : (Object.keys(PARTS) as Part[]);
const scratch = mkdtempSync(join(tmpdir(), 'queuelock-test-'));
const ranAgainst = join(scratch, 'ran-against.jsonl');

/** Whether the servers are here that the tests need; installs them if it may. */
function prepare(): boolean {
  const command = [...nodeOptions(), 'integration/prepare.ts'];
  return spawnSync(process.execPath, command, { stdio: 'inherit' }).status === 0;
}

let total = NOTHING;
if (!prepare()) total = plusFailure(total, 'the servers for the tests are not here');
for (const part of total.failed > 0 ? [] : parts) {
  total = (await run(part, options, ranAgainst)).reduce(plus, total);
}
if (total.passed + total.failed === 0) total = plusFailure(total, 'no test was executed');
const { lines, uneven } = conformanceTable(total.conformance);
for (const line of lines) console.log(line);
if (uneven.length > 0) total = plusFailure(total, `not asked of every backend: ${uneven.join('; ')}`);
printRanAgainst(ranAgainst);
rmSync(scratch, { recursive: true });
printSummary(total);
process.exitCode = total.failed === 0 ? 0 : 1;
