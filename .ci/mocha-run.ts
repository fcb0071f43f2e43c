import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { broken, sum, type Outcome } from './outcome.ts';

export interface MochaRun {
  /** Name of the run, for messages that concern no single test. */
  readonly name: string;
  readonly files: readonly string[];
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** If set, the output of the run is printed only after this promise has settled. */
  readonly printAfter?: Promise<unknown>;
  /** How long processes that the tests started may outlive the run, in milliseconds. Default 10,000. */
  readonly leftGraceMs?: number;
}

const EXIT_GRACE_MS = 30_000;
const KILLED_WITHIN_MS = 2_000;
const require = createRequire(import.meta.url);
const mochaCli = join(dirname(require.resolve('mocha/package.json')), 'lib/cli/cli.js');
const running = new Set<ChildProcess>();

/** Returns the options of Node that run sources and tests without a build. */
export function nodeOptions(): string[] {
  const config = JSON.parse(readFileSync('.mocharc.json', 'utf8')) as { 'node-option': string[] };
  return config['node-option'].map((option) => `--${option}`);
}

/** Runs the tests of the given files in a separate process. */
export async function runMocha(run: MochaRun): Promise<Outcome> {
  const { files, options, env, printAfter } = run;
  const child = fork(mochaCli, [...files, '--reporter', './.ci/reporter.mjs', ...options], {
    execArgv: nodeOptions(),
    env: { ...process.env, ...env },
    silent: printAfter !== undefined,
    // The run has its own process group, so that processes that the tests leave behind can be killed.
    detached: true,
  });
  const printed = printAfter === undefined ? Promise.resolve() : printLater(child, printAfter);
  running.add(child);
  child.once('close', () => running.delete(child));
  const outcome = await outcomeOf(child, run);
  await printed;
  return outcome;
}

/** Passes a signal on to all processes of running tests. */
export function signalAll(signal: NodeJS.Signals): void {
  for (const child of running) child.kill(signal);
}

async function outcomeOf(child: ChildProcess, { name, leftGraceMs = 10_000 }: MochaRun): Promise<Outcome> {
  const reported: { outcome?: Outcome; killed?: boolean } = {};
  child.once('message', (message) => {
    reported.outcome = message as Outcome;
    setTimeout(() => {
      reported.killed = child.kill('SIGKILL');
    }, EXIT_GRACE_MS).unref();
  });
  const closed = once(child, 'close');
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  const isAlone = await endOthers(child, { closed, afterMs: leftGraceMs });
  const { outcome, killed } = reported;
  const how = String(signal ?? code);
  if (outcome === undefined) return failed(`${name}: mocha ended early (${how})`);
  // If a test failed, does not report processes that were left running: the failed test may have skipped its
  // cleanup.
  if (outcome.failures.length > 0) return outcome;
  if (!isAlone) return sum([outcome, failed(`${name}: a process that a test began was left running`)]);
  if (code === 0) return outcome;
  const end = killed ? 'the process did not end' : `mocha ended with ${how}`;
  return sum([outcome, failed(`${name}: ${end} after its last test`)]);
}

/**
 * Kills processes that still hold the run's output open, since the output would not end otherwise. Returns
 * whether no such process was left.
 */
async function endOthers(
  child: ChildProcess,
  { closed, afterMs }: { readonly closed: Promise<unknown>; readonly afterMs: number },
): Promise<boolean> {
  const isAlone = await happens(closed, afterMs);
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The run's process group does not exist any more: all of its processes have ended.
  }
  if (isAlone || (await happens(closed, KILLED_WITHIN_MS))) return isAlone;
  // A process in another process group still holds the pipes open, so this process closes its ends of the
  // pipes.
  for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  return false;
}

async function happens(event: Promise<unknown>, withinMs: number): Promise<boolean> {
  const over = new AbortController();
  const late = pause(withinMs, false, { signal: over.signal });
  const happened = await Promise.race([event.then(() => true), late]);
  over.abort();
  await late.catch(() => undefined);
  return happened;
}

/** Prints why a run has failed, as soon as that is known. Returns the outcome of a run with this failure. */
function failed(cause: string): Outcome {
  console.error(`FAILED: ${cause}`);
  return broken(cause);
}

/**
 * Prints the output of a run once the promise `after` has settled, and resolves when all of it was printed.
 * Until then this process reads the pipes into memory, so that the run never blocks on them.
 */
async function printLater({ stdout, stderr }: ChildProcess, after: Promise<unknown>): Promise<void> {
  const pairs = [
    [stdout, process.stdout],
    [stderr, process.stderr],
  ] as const;
  const print = async ([from, to]: (typeof pairs)[number]): Promise<void> => {
    const kept = new PassThrough({ highWaterMark: Number.MAX_SAFE_INTEGER });
    from?.pipe(kept);
    // Ends the copy of a pipe that was destroyed: such a pipe emits `close` but not `end`.
    from?.once('close', () => kept.end());
    await Promise.allSettled([after]);
    kept.pipe(to, { end: false });
    await finished(kept);
  };
  await Promise.all(pairs.map(print));
}
