import type { Command } from '@commander-js/extra-typings';
import { election } from '@queuelock/recipes';
import { withClient, type CommandContext } from '../client.ts';
import { explain } from '../help.ts';
import { note } from '../note.ts';
import {
  TTL_DEFAULT,
  TTL_SECONDS,
  backendOption,
  jsonOption,
  profileOption,
  recordOption,
  verboseOption,
} from '../options.ts';
import { RunnableCommand } from '../run/command.ts';
import { leadIdly } from '../run/idle.ts';
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
import { printer } from '../printer.ts';
import { heldUntil, type Held, type Work } from '../run/term.ts';
import { runTerms } from '../run/terms.ts';

interface ElectOptions extends TermOptions {
  readonly json?: true;
}

const NOTES = `VALUE is public, for instance an address: \`queuelock leader NAME\` prints it. The command gets it in QUEUELOCK_VALUE, with
QUEUELOCK_NAME, QUEUELOCK_TOKEN (the fencing token), QUEUELOCK_EPOCH and QUEUELOCK_KEY. Without a command it prints that it leads, and leads
until a signal or a loss. On etcd, Go's concurrency.Election and \`etcdctl elect\` share the queue.

${ABOUT_COMMANDS}`;

/** Adds the command `elect`, which runs a candidate of an election. */
export function addElect(program: Command): void {
  const command = program
    .command('elect')
    .summary('be a candidate for the leadership, and run a command while leading')
    .description('Joins the election NAME with VALUE, and runs the command while it leads.')
    .usage('[options] <name> <value> [-- <command> [args...]]')
    .argument('<name>', 'the election')
    .argument('<value>', 'public value of this candidate; never a secret')
    .argument('[command...]', 'the program and its arguments; no shell is involved')
    .addOption(backendOption())
    .addOption(profileOption())
    .option('--ttl <s>', `seconds for which the server keeps a silent leader ${TTL_DEFAULT}`, TTL_SECONDS)
    .addOption(waitOption())
    .addOption(tryOption())
    .addOption(needsOption())
    .addOption(graceOption())
    .addOption(onLossOption())
    .addOption(keepOption())
    .addOption(epochOption())
    .addOption(recordOption())
    .addOption(passCredentialsOption())
    .addOption(jsonOption('without a command: one JSON object a line'))
    .addOption(verboseOption())
    .action(async (...given) => {
      const [name, value, argv, options] = given;
      process.exitCode = await runCandidate({ name, value, argv }, options);
    });
  explain(command, {
    notes: NOTES,
    examples: [
      [
        'queuelock elect scheduler 10.0.0.7:8080 --keep -- ./scheduler',
        'always runs on exactly one of several machines',
      ],
      ['queuelock elect scheduler "$(hostname)"', 'leads until Ctrl-C'],
      ['queuelock elect migration me --try -- ./migrate', 'does nothing if there is a leader'],
    ],
  });
}

interface Candidacy {
  readonly name: string;
  readonly value: string;
  /**
   * The program to run as the leader, with its arguments. It is empty when the leader only prints that it
   * leads.
   */
  readonly argv: readonly string[];
}

function runCandidate({ name, value, argv }: Candidacy, options: ElectOptions): Promise<number> {
  return withClient({ ...options, mayOutlive: true, reportsErrors: true }, async (around) => {
    const { client, stop } = around;
    const candidate = election(client, name, { value });
    const command = argv.length === 0 ? undefined : commandFor({ value, argv }, around, options);
    const work = command?.work ?? idleFor(value, around, options.json === true);
    const acquire = async (signal: AbortSignal): Promise<Held> => {
      command?.prepare();
      const campaign = candidate.campaign({ signal, ...waitOf(options) });
      const leadership = await unlessBusy(campaign, name, options);
      return heldUntil(leadership, () => leadership.resign());
    };
    try {
      return await runTerms({ acquire, work, keep: options.keep === true, stop, note });
    } finally {
      command?.close();
    }
  });
}

function commandFor(
  { value, argv }: Pick<Candidacy, 'value' | 'argv'>,
  { client, ttlMs, epoch }: CommandContext,
  { grace, onLoss, passCredentials }: ElectOptions,
): RunnableCommand {
  return new RunnableCommand({
    command: argv,
    graceMs: graceOf(grace, ttlMs),
    onLoss,
    env: { QUEUELOCK_VALUE: value, QUEUELOCK_EPOCH: String(epoch) },
    passCredentials: passCredentials === true,
    session$: client.session$,
    note,
  });
}

function idleFor(value: string, { epoch, stop, lines }: CommandContext, json: boolean): Work {
  return leadIdly({ value, epoch, stop, printer: printer(lines, json) });
}
