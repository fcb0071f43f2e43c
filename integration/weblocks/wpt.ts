import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readArguments, refuseArguments } from '@queuelock/harness/command-line';
import { stores } from '../scenarios/stores.ts';
import { stopShared } from '@queuelock/harness/services';
import { scriptOf } from '@queuelock/harness/services/script';
import type { SubtestResult } from './harness.ts';
import type { Origin } from './origin.ts';
import type { PageOrder } from './page-process.ts';
import { testFilesIn } from './test-files.ts';

const run = promisify(execFile);
const PAGE = fileURLToPath(new URL('page-process.ts', import.meta.url));
const CONTEXT = fileURLToPath(new URL('context-process.ts', import.meta.url));
// Time limit of a subtest in milliseconds. It is long, so that a busy machine causes no failure.
const SUBTEST_MS = 120_000;
const COMFORT = 3;
const MEMORY: Target = { name: 'memory', url: 'memory:', ttlMs: 3_000 };

interface Target extends Omit<Origin, 'scope'> {
  readonly name: string;
}

const HELP = `pnpm wpt --files path/to/wpt/web-locks [--store memory|etcd|ZooKeeper] [--rounds N] [--only TEXT]

Runs the Web Locks tests of web-platform-tests, which are not part of this repository, against queuelock's lock manager.
Each test file runs in a separate process, and so does each worker and each frame in it. On memory, workers and frames
run in the process of the page, and are cut off instead of killed. Prints the failures, and one line for each round.
Ends with exit code 1 if anything failed.

  --rounds N   how often; default: 1
  --only TEXT  only files with this text in their name`;

const { values } = readArguments(
  {
    files: { type: 'string' },
    store: { type: 'string' },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
  HELP,
);
const directory = resolve(values.files ?? refuseArguments('--files is missing.', HELP));
const rounds = Number(values.rounds);
const files = (await testFilesIn(directory)).filter((file) => file.includes(values.only));
if (!(rounds >= 1)) refuseArguments(`--rounds "${values.rounds}" is not a number from 1.`, HELP);
if (files.length === 0) refuseArguments(`There is no test to run in ${directory}.`, HELP);

async function targets(): Promise<readonly Target[]> {
  const isChosen = (name: string): boolean =>
    values.store === undefined || name.toLowerCase() === values.store.toLowerCase();
  const chosen = isChosen(MEMORY.name) ? [MEMORY] : [];
  for (const store of stores.filter(({ name }) => isChosen(name))) {
    const site = await store.share('web-platform-tests');
    chosen.push({ name: store.name, url: site.url(), ttlMs: COMFORT * site.ttlMs });
  }
  if (chosen.length === 0)
    refuseArguments(`--store "${values.store ?? ''}" is none of memory, etcd, ZooKeeper.`, HELP);
  return chosen;
}

async function runFile(file: string, { url, ttlMs }: Target): Promise<readonly SubtestResult[]> {
  const origin = { url, ttlMs, scope: `wpt-${randomBytes(6).toString('hex')}` };
  const contextScript = scriptOf(CONTEXT).script;
  const order: PageOrder = { directory, file, subtestMs: SUBTEST_MS, origin, contextScript };
  const { script, execArgv } = scriptOf(PAGE);
  const { stdout } = await run(process.execPath, [...execArgv, script, JSON.stringify(order)]);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as readonly SubtestResult[];
}

async function playRound(target: Target, round: number): Promise<boolean> {
  let passed = 0;
  let failed = 0;
  const begun = performance.now();
  for (const file of files) {
    for (const { name, failure } of await runFile(file, target)) {
      if (failure === undefined) passed += 1;
      else {
        failed += 1;
        console.log(`${target.name}, ${file}, ${name}: ${failure}`);
      }
    }
  }
  const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
  const total = passed + failed;
  console.log(
    `${target.name}, round ${round}: ${passed} of ${total} subtests in ${files.length} files, ${seconds} s`,
  );
  return failed === 0 && total > 0;
}

try {
  for (const target of await targets())
    for (let round = 1; round <= rounds; round += 1)
      if (!(await playRound(target, round))) process.exitCode = 1;
} finally {
  await stopShared();
}
