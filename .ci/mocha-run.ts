import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { broken, sum, type Outcome } from './outcome.ts';

export interface MochaRun {
  /** For what is said of the whole. */
  readonly name: string;
  readonly files: readonly string[];
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What it prints is kept until this has happened. */
  readonly printAfter?: Promise<unknown>;
}

const EXIT_GRACE_MS = 30_000;
const require = createRequire(import.meta.url);
const mochaCli = join(dirname(require.resolve('mocha/package.json')), 'lib/cli/cli.js');
const running = new Set<ChildProcess>();

/** The options of Node with which the sources and tests run as they stand. */
export function nodeOptions(): string[] {
  const config = JSON.parse(readFileSync('.mocharc.json', 'utf8')) as { 'node-option': string[] };
  return config['node-option'].map((option) => `--${option}`);
}

/** Runs the tests of these files in a process of their own. */
export async function runMocha({ name, files, options, env, printAfter }: MochaRun): Promise<Outcome> {
  const child = fork(mochaCli, [...files, '--reporter', './.ci/reporter.mjs', ...options], {
    execArgv: nodeOptions(),
    env: { ...process.env, ...env },
    silent: printAfter !== undefined,
  });
  const printed = printAfter === undefined ? Promise.resolve() : printLater(child, printAfter);
  running.add(child);
  child.once('close', () => running.delete(child));
  const outcome = await outcomeOf(child, name);
  await printed;
  return outcome;
}

/** Passes a signal on to all that run. */
export function signalAll(signal: NodeJS.Signals): void {
  for (const child of running) child.kill(signal);
}

async function outcomeOf(child: ChildProcess, name: string): Promise<Outcome> {
  const told: { outcome?: Outcome; killed?: boolean } = {};
  child.once('message', (message) => {
    told.outcome = message as Outcome;
    setTimeout(() => {
      told.killed = child.kill('SIGKILL');
    }, EXIT_GRACE_MS).unref();
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('close', (...how) => resolve(how));
  });
  const { outcome, killed } = told;
  const how = String(signal ?? code);
  if (outcome === undefined) return failed(`${name}: mocha ended early (${how})`);
  // A test that failed may have left something behind.
  if (code === 0 || outcome.failures.length > 0) return outcome;
  const end = killed ? 'the process did not end' : `mocha ended with ${how}`;
  return sum([outcome, failed(`${name}: ${end} after its last test`)]);
}

/** Said as soon as it is known. */
function failed(cause: string): Outcome {
  console.error(`FAILED: ${cause}`);
  return broken(cause);
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
