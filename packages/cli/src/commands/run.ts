import { hostname } from 'node:os';
import type { Command } from '@commander-js/extra-typings';
import type { LockClient, Ownership } from '@queuelock/core';
import { openClient } from '../client.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure, describeFailure } from '../failure.ts';
import {
  MAX_MS,
  TTL_DEFAULT,
  TTL_SECONDS,
  backendOption,
  label,
  verboseOption,
  wholeNumber,
} from '../options.ts';
import { defaultGraceMs } from '../run/action.ts';
import { CommandProcess } from '../run/child.ts';
import { guard } from '../run/guard.ts';
import { onEndSignals, stopOnSignals, type Stop } from '../stop.ts';

interface RunOptions {
  readonly backend?: string;
  readonly id: string;
  readonly ttl?: number;
  readonly wait?: number;
  readonly grace?: number;
}

const AFTER = `
The command finds QUEUELOCK_NAME, QUEUELOCK_TOKEN (the fencing token: send it with every protected write) and
QUEUELOCK_KEY in its environment. When the server is out of reach, it gets SIGTERM and, after the grace period,
SIGKILL, with everything that it started, before the server can give the lock to the next.

Exit code: the command's own (128+n if signal n ended it); ${String(EXIT.lost)} if the lock was lost and the command stopped;
${String(EXIT.notFound)} or ${String(EXIT.notExecutable)} if it could not be started; ${String(EXIT.failure)} if the lock was not obtained; ${String(EXIT.usage)} for a wrong command line.

Examples:
  $ queuelock run nightly --backend etcd://127.0.0.1:2379 -- ./import.sh --full
  $ queuelock run nightly --wait 0 -- make report        # not at all if somebody is at it`;

/** Adds `run`: a program under a lock. */
export function addRun(program: Command): void {
  program
    .command('run')
    .summary('run a command while holding a lock')
    .description('Waits for the lock NAME, runs the command, releases the lock. Write -- before the command.')
    .usage('[options] <name> -- <command> [args...]')
    .argument('<name>', 'the lock')
    .argument('<command...>', 'the program and its arguments; no shell is involved')
    .addOption(backendOption())
    .option('--id <label>', 'label in the queue', label, `${hostname()}:${String(process.pid)}`)
    .option(
      '--ttl <s>',
      `seconds for which the server keeps the lock of a silent process ${TTL_DEFAULT}`,
      TTL_SECONDS,
    )
    .option('--wait <ms>', 'longest wait for the lock (default: for ever)', wholeNumber(0, MAX_MS))
    .option(
      '--grace <ms>',
      'between SIGTERM and SIGKILL (default: 2000, at most a quarter of the TTL)',
      wholeNumber(0, MAX_MS),
    )
    .addOption(verboseOption())
    .addHelpText('after', AFTER)
    .action(async (name, command, options) => {
      process.exitCode = await runUnderLock(name, command, options);
    });
}

async function runUnderLock(name: string, command: readonly string[], options: RunOptions): Promise<number> {
  const stop = stopOnSignals();
  const { client, ttlMs } = await openClient({
    backend: options.backend,
    ttl: options.ttl,
    owner: options.id,
  });
  try {
    const graceMs = graceOf(options.grace, ttlMs);
    const ownership = await client.acquire(name, {
      signal: stop.signal,
      ...(options.wait === undefined ? {} : { timeoutMs: options.wait }),
    });
    if (stop.exitCode !== undefined) return stop.exitCode;
    return await runHolding({ client, ownership, command, graceMs, stop });
  } catch (error) {
    if (stop.exitCode !== undefined && error === stop.signal.reason) return stop.exitCode;
    throw error;
  } finally {
    await client.close();
  }
}

/** The grace period has to leave most of the TTL for heartbeats. */
function graceOf(grace: number | undefined, ttlMs: number): number {
  if (grace === undefined) return defaultGraceMs(ttlMs);
  if (grace <= ttlMs / 2) return grace;
  throw new Failure(
    `option '--grace <ms>' argument '${String(grace)}' is invalid. It must be at most half of --ttl (${String(ttlMs / 2)} ms).`,
    { exitCode: EXIT.usage },
  );
}

interface Holding {
  readonly client: LockClient;
  readonly ownership: Ownership;
  readonly command: readonly string[];
  readonly graceMs: number;
  /** Stops the wait; signals are the command's from its start on. */
  readonly stop: Stop;
}

async function runHolding({ client, ownership, command, graceMs, stop }: Holding): Promise<number> {
  const child = await CommandProcess.start(command, {
    QUEUELOCK_NAME: ownership.name,
    QUEUELOCK_TOKEN: ownership.token.toString(),
    QUEUELOCK_KEY: ownership.key,
  });
  const stopForwarding = onEndSignals((signal) => {
    child.signal(signal);
  });
  stop.dispose();
  // A suspended guard could not stop the command in time.
  process.on('SIGTSTP', () => {
    note('it stays in the foreground: a suspended queuelock could not stop its command in time');
  });
  const end = await guard({ child, ownership, session$: client.session$, graceMs, note });
  // From here on one signal changes nothing, the lock is being released already; a second one ends the process.
  stopOnSignals();
  stopForwarding();
  await ownership.release();
  return end === 'stopped' ? EXIT.lost : child.exited;
}

function note(line: string): void {
  process.stderr.write(`${describeFailure(line, false)}\n`);
}
