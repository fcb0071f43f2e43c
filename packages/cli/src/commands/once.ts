import { Option, type Command } from '@commander-js/extra-typings';
import type { Ownership } from '@queuelock/core';
import { oncePer, type OncePerOptions, type SlotOutcome } from '@queuelock/recipes';
import { withClient, type CommandContext } from '../client.ts';
import { EXIT } from '../exit-codes.ts';
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
} from '../options.ts';
import { RunnableCommand } from '../run/command.ts';
import {
  epochOption,
  graceOf,
  graceOption,
  onLossOption,
  passCredentialsOption,
  waitOption,
  type TermOptions,
} from '../run/options.ts';
import { heldUntil, runTerm } from '../run/term.ts';

interface OnceOptions extends Omit<TermOptions, 'try' | 'needs' | 'keep'> {
  readonly atLeastOnce?: true;
}

interface Call {
  readonly name: string;
  readonly slot: string;
  readonly command: readonly string[];
}

const NOTES = `A slot is one run of the work: a release, a day, a scheduled time. Slots are in an order, in which runs of digits count as numbers
(1.9.0, 1.10.0). A slot older than the latest is not run any more.

Without --at-least-once the slot is noted before the command starts. The command is never started a second time, also after a crash or a
failure, and other calls do not wait for its end. With it the slot is noted when the command has ended with 0. Other calls wait for that, and the next
call starts the command again after a crash or a failure. All calls of a name must use the same setting.

The command gets QUEUELOCK_SLOT, QUEUELOCK_NAME, QUEUELOCK_TOKEN, QUEUELOCK_EPOCH and QUEUELOCK_KEY in its environment.

Exit code: the command's own (128+n if signal n ended it); 0 without a start if the slot was done; ${String(EXIT.absent)} without a start if a newer slot was
done; ${String(EXIT.lost)} if the lock was lost before the command had ended; ${String(EXIT.busy)} if it was not decided within --wait.`;

/** Adds the command `once`, which runs a program once per slot. */
export function addOnce(program: Command): void {
  const command = program
    .command('once')
    .summary('run a command once per slot, on one of all machines')
    .description('Runs the command unless it was run for that slot. Write -- before the command.')
    .usage('[options] <name> <slot> -- <command> [args...]')
    .argument('<name>', 'the lock, and the work')
    .argument('<slot>', 'which run of the work this is, equal on all machines: 1 to 256 characters')
    .argument('<command...>', 'the program and its arguments; no shell is involved')
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(idOption())
    .option(
      '--ttl <s>',
      `seconds for which the server keeps the lock of a silent process ${TTL_DEFAULT}`,
      TTL_SECONDS,
    )
    .addOption(
      new Option('--at-least-once', 'run it again after a crash or a failure; other calls wait for its end'),
    )
    .addOption(waitOption())
    .addOption(graceOption())
    .addOption(onLossOption())
    .addOption(epochOption())
    .addOption(recordOption())
    .addOption(passCredentialsOption())
    .addOption(verboseOption())
    .action(async (...given) => {
      const [name, slot, command, options] = given;
      process.exitCode = await runOnce({ name, slot, command }, options);
    });
  explain(command, {
    notes: NOTES,
    examples: [
      ['queuelock once migrate 1.10.0 --at-least-once -- npm run migrate', 'before the service starts'],
      ['queuelock once report "$(date -u +%F)" -- ./report.sh', 'a cron job of several machines, once a day'],
    ],
  });
}

function runOnce({ name, slot, command }: Call, options: OnceOptions): Promise<number> {
  const guarantee: OncePerOptions['guarantee'] = options.atLeastOnce ? 'at-least-once' : 'at-most-once';
  return withClient({ ...options, mayOutlive: true, reportsErrors: true }, async (around) => {
    const { client, stop } = around;
    const once = oncePer(client, name, {
      guarantee,
      ...(options.id === undefined ? {} : { owner: options.id }),
    });
    const run = commandFor({ slot, command }, around, options);
    try {
      const limits = options.wait === undefined ? {} : { timeoutMs: options.wait };
      const work = async (ownership: Ownership): Promise<number> => {
        // The release function of this hold does nothing, because `once.run` itself releases the lock of the
        // slot.
        const held = heldUntil(ownership, () => Promise.resolve());
        const { exitCode } = await runTerm(run.work, held, stop);
        // Throws after a failed program, because `once.run` records the slot as done unless its work throws.
        if (exitCode !== EXIT.ok) throw new CommandFailed(exitCode);
        return exitCode;
      };
      return exitCodeOf(name, await once.run(slot, work, { ...limits, signal: stop.signal }));
    } catch (error) {
      if (error instanceof CommandFailed) return error.exitCode;
      throw error;
    } finally {
      run.close();
    }
  });
}

/** Thrown when the program ended with an exit code other than 0. */
class CommandFailed extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`the command ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

function commandFor(
  { slot, command }: Pick<Call, 'slot' | 'command'>,
  { client, ttlMs, epoch }: CommandContext,
  { grace, onLoss, passCredentials }: OnceOptions,
): RunnableCommand {
  return new RunnableCommand({
    command,
    graceMs: graceOf(grace, ttlMs),
    onLoss,
    env: { QUEUELOCK_SLOT: slot, QUEUELOCK_EPOCH: String(epoch) },
    passCredentials: passCredentials === true,
    session$: client.session$,
    note,
  });
}

function exitCodeOf(name: string, result: SlotOutcome<number>): number {
  if (result.outcome === 'ran') return result.value;
  const by = `by ${result.by} at ${new Date(result.at).toISOString()}`;
  if (result.outcome === 'already-done') {
    note(`${JSON.stringify(name)} is done for ${JSON.stringify(result.slot)}, ${by}`);
    return EXIT.ok;
  }
  note(`${JSON.stringify(name)} is done for the newer ${JSON.stringify(result.slot)}, ${by}`);
  return EXIT.absent;
}
