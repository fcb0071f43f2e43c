import { Option, type Command } from '@commander-js/extra-typings';
import type { AcquireOptions } from '@queuelock/core';
import { withClient } from '../client.ts';
import { explain } from '../help.ts';
import { note } from '../note.ts';
import {
  TTL_DEFAULT,
  TTL_SECONDS,
  backendOption,
  idOption,
  profileOption,
  recordOption,
  verboseOption,
  wholeNumber,
} from '../options.ts';
import { RunnableCommand } from '../run/command.ts';
import {
  ABOUT_COMMANDS,
  epochOption,
  graceOf,
  graceOption,
  keepOption,
  needsOption,
  onLossOption,
  passCredentialsOption,
  waitOf,
  tryOption,
  unlessBusy,
  waitOption,
  type TermOptions,
} from '../run/options.ts';
import type { Held } from '../run/term.ts';
import { runTerms } from '../run/terms.ts';

interface RunOptions extends TermOptions {
  readonly read?: true;
  readonly semaphore?: number;
}

const NOTES = `The command gets QUEUELOCK_NAME, QUEUELOCK_TOKEN (the fencing token: send it with every protected write), QUEUELOCK_EPOCH and
QUEUELOCK_KEY in its environment.

${ABOUT_COMMANDS}`;

const EXAMPLES = [
  ['queuelock run nightly -- ./import.sh --full', 'one at a time, first come, first served'],
  ['queuelock run nightly --try -- make report', 'does nothing if it is running elsewhere'],
  ['queuelock run uploads --semaphore 5 -- ./upload.sh', 'at most five at a time'],
  ['queuelock run catalogue --read -- ./export.sh', 'together with other readers'],
  ['queuelock run scheduler --keep -- ./scheduler', 'always, on one machine of several'],
] satisfies Parameters<typeof explain>[1]['examples'];

/** Adds the command `run`, which runs a program under a lock. */
export function addRun(program: Command): void {
  const command = program
    .command('run')
    .summary('run a command while holding a lock')
    .description('Waits for the lock NAME, runs the command, releases the lock. Write -- before the command.')
    .usage('[options] <name> -- <command> [args...]')
    .argument('<name>', 'the lock')
    .argument('<command...>', 'the program and its arguments; no shell is involved')
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(idOption())
    .option(
      '--ttl <s>',
      `seconds for which the server keeps the lock of a silent process ${TTL_DEFAULT}`,
      TTL_SECONDS,
    )
    .addOption(waitOption())
    .addOption(tryOption())
    .addOption(new Option('--read', 'hold the lock shared with other readers').conflicts('semaphore'))
    .option(
      '--semaphore <k>',
      'allow k holders at a time; use the same k everywhere',
      wholeNumber(1, 1_000_000),
    )
    .addOption(needsOption())
    .addOption(graceOption())
    .addOption(onLossOption())
    .addOption(keepOption())
    .addOption(epochOption())
    .addOption(recordOption())
    .addOption(passCredentialsOption())
    .addOption(verboseOption())
    .action(async (name, command, options) => {
      process.exitCode = await runUnderLock(name, command, options);
    });
  explain(command, {
    notes: NOTES,
    examples: EXAMPLES,
  });
}

function runUnderLock(name: string, command: readonly string[], options: RunOptions): Promise<number> {
  const { grace, onLoss, keep = false, passCredentials } = options;
  return withClient(
    { ...options, mayOutlive: true, reportsErrors: true },
    async ({ client, ttlMs, epoch, stop }) => {
      const run = new RunnableCommand({
        command,
        graceMs: graceOf(grace, ttlMs),
        onLoss,
        env: { QUEUELOCK_EPOCH: String(epoch) },
        passCredentials: passCredentials === true,
        session$: client.session$,
        note,
      });
      try {
        const acquire = (signal: AbortSignal): Promise<Held> => {
          run.prepare();
          const turn = client.acquire(name, { ...claimOptionsOf(options), signal });
          return unlessBusy(turn, name, options);
        };
        return await runTerms({ acquire, work: run.work, keep, stop, note });
      } finally {
        run.close();
      }
    },
  );
}

function claimOptionsOf({ read, semaphore, ...options }: RunOptions): AcquireOptions {
  return {
    ...waitOf(options),
    ...(read ? { mode: 'shared' as const } : {}),
    ...(semaphore === undefined ? {} : { limit: semaphore }),
  };
}
