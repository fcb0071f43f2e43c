// Builds the packages, runs the tests and prints a summary: node --import tsx/esm .ci/test.ts [long [part ...]]
// [mocha options]. The last line is `N passed, N failed, N skipped`. The exit code is 0 only if at least one test
// ran and none failed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { GATE_PROGRAMS, LONG_PROGRAMS, preparedEnv } from '../packages/harness/src/services/prepared.ts';
import { conformanceTable } from './conformance-table.ts';
import { nodeOptions, runMocha, signalAll } from './mocha-run.ts';
import { toRunAgain, broken, NOTHING, settle, sum, titlesOf, type Outcome, type Settled } from './outcome.ts';
import { Scratch } from './scratch.ts';
import { gate, long, PARTS, type Group } from './suites.ts';
import { printSummary } from './summary.ts';

const CHOICE = /^(-g|-f|--grep|--fgrep)(=|$)/;
const args = process.argv.slice(2);
const isLong = args[0] === 'long';
const words = args.slice(isLong ? 1 : 0);
const firstOption = words.findIndex((word) => word.startsWith('-'));
const named = firstOption === -1 ? words : words.slice(0, firstOption);
const options = words.slice(named.length);
const unknown = named.filter((name) => !isLong || !PARTS.includes(name));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}. Parts of the long run: ${PARTS.join(', ')}`);
  process.exit(2);
}

const scratch = new Scratch();
const ranAgainst = scratch.file('ran-against.jsonl');
// The long run seeds its random tests differently every time.
const seed = process.env['QUEUELOCK_SEED'] ?? (isLong ? String(Date.now() % 2 ** 31) : '1');
const env = {
  ...scratch.env,
  QUEUELOCK_RAN_AGAINST: ranAgainst,
  QUEUELOCK_IS_BUILT: 'yes',
  ...preparedEnv(isLong ? LONG_PROGRAMS : GATE_PROGRAMS),
  QUEUELOCK_SEED: seed,
};

let stoppedBy: NodeJS.Signals | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    stoppedBy = signal;
    signalAll(signal);
  });

/** Runs a command. Resolves with whether it succeeded. */
async function succeeds(command: string, ...args: readonly string[]): Promise<boolean> {
  const child = spawn(command, args, { stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}

/**
 * Builds the packages, unless the caller has done so, and installs missing servers meanwhile. Returns an
 * outcome with a failure if the build failed, and another one if the installation failed.
 */
async function makeReady(): Promise<readonly Outcome[]> {
  const prepare = [...nodeOptions(), 'integration/prepare.ts', ...(isLong ? ['long'] : [])];
  const [isBuilt, isPrepared] = await Promise.all([
    process.env['QUEUELOCK_IS_BUILT'] === 'yes' || succeeds('pnpm', '--silent', 'build'),
    succeeds(process.execPath, ...prepare),
  ]);
  return [
    ...(isBuilt ? [] : [broken('the build failed')]),
    ...(isPrepared ? [] : [broken('a server that the tests need is missing')]),
  ];
}

/**
 * Runs the groups in their order. At any time it runs one group more than there are processors, because tests
 * spend more than half of their duration waiting. The outputs of two groups are never mixed.
 */
async function runGroups(groups: readonly Group[]): Promise<readonly Outcome[]> {
  const waiting = groups.map((group, place) => ({ group, place }));
  const printed: Promise<unknown>[] = [];
  const outcomes: Outcome[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const before = printed.slice(0, next.place);
      const running = runGroup(
        next.group,
        before.length === 0 ? {} : { printAfter: Promise.allSettled(before) },
      );
      printed[next.place] = running;
      outcomes[next.place] = await running;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() + 1 }, work));
  return outcomes;
}

async function runGroup(group: Group, when: { readonly printAfter?: Promise<unknown> }): Promise<Outcome> {
  if (stoppedBy !== undefined) return broken(`${group.name}: ${stoppedBy} stopped the tests before it`);
  const chosen = options.some((option) => CHOICE.test(option));
  const titles = group.titles === undefined || chosen ? [] : ['--grep', `/${group.titles}/i`];
  return runMocha({ ...group, options: [...titles, ...options], env, ...when });
}

/**
 * Runs each of a few failed tests again, once and alone. A test that then passes has failed because of the
 * busy machine, and is listed by name.
 */
async function runAgain(first: Outcome): Promise<Settled> {
  let settled: Settled = { ...NOTHING, ...first };
  for (const failure of toRunAgain(first)) {
    if (stoppedBy !== undefined) break;
    console.log(`\nAgain, by itself: ${failure.title}`);
    const grep = ['--grep', `/${titlesOf(failure)}/`];
    const again = await runMocha({ name: failure.title, files: [failure.file], options: grep, env });
    settled = settle(settled, failure, again);
  }
  return settled;
}

function printRanAgainst(file: string): void {
  if (!existsSync(file)) return;
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const entries = [...new Set(lines)].map((line) => JSON.parse(line) as { what: string; against: string });
  const width = Math.max(...entries.map(({ what }) => what.length));
  console.log('\nRan against');
  for (const { what, against } of entries) console.log(`  ${what.padEnd(width)}  ${against}`);
}

/**
 * Prints the conformance results of all backends side by side. A test that did not run on every backend is a
 * failure.
 */
function compareBackends({ conformance }: Outcome): Outcome {
  const { lines, uneven } = conformanceTable(conformance);
  for (const line of lines) console.log(line);
  return uneven.length > 0 ? broken(`not asked of every backend: ${uneven.join('; ')}`) : NOTHING;
}

const outcomes: Outcome[] = [];
const parts = !isLong ? [gate()] : (named.length > 0 ? named : PARTS).map(long);
if (isLong) console.log(`QUEUELOCK_SEED=${seed} asks the same once more`);
const failed = await makeReady();
outcomes.push(...failed);
if (failed.length === 0) for (const groups of parts) outcomes.push(...(await runGroups(groups)));
const settled = await runAgain(sum(outcomes));
const compared = compareBackends(settled);
printRanAgainst(ranAgainst);
const nothing =
  settled.passed.length + settled.failures.length === 0 ? broken('no test was executed') : NOTHING;
const all = { ...settled, ...sum([settled, compared, nothing]) };
scratch.remove({ keep: all.failures.length > 0 });
printSummary(all);
process.exitCode = all.failures.length === 0 ? 0 : 1;
