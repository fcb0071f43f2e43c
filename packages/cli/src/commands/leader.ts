import type { Command } from '@commander-js/extra-typings';
import { election, type Candidate, type LeaderState } from '@queuelock/recipes';
import { filter, fromEvent, takeUntil } from 'rxjs';
import { withClient, type CommandContext } from '../client.ts';
import type { StoreOptions } from '../config/store-selection.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { explain } from '../help.ts';
import { currentQueue } from '../current-queue.ts';
import { backendOption, jsonOption, profileOption, verboseOption } from '../options.ts';
import { printer, type Printer } from '../printer.ts';

interface LeaderOptions extends StoreOptions {
  readonly follow?: true;
  readonly json?: true;
}

const NOTES = `Prints the value of the leader. With --follow it prints a line now and at every change: a vacancy is an empty line, and while the
server cannot be reached nothing is printed. With --json: {"name", "status", "leader"}; the leader has value, key and order, or is null;
status is live, or stale while the server cannot be reached.

Exit code: ${String(EXIT.absent)} if there is no leader (without --follow).`;

/** Adds the command `leader`, which prints the leader of an election. */
export function addLeader(program: Command): void {
  const command = program
    .command('leader')
    .summary('print the leader')
    .description(
      'Prints the leader of the election NAME, now or at every change. Does not join the election.',
    )
    .argument('<name>', 'the election')
    .addOption(backendOption())
    .addOption(profileOption())
    .option('--follow', 'print a line for every change')
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (name, options) => {
      process.exitCode = await showLeader(name, options);
    });
  explain(command, {
    notes: NOTES,
    examples: ['queuelock leader scheduler', 'queuelock leader scheduler --follow --json'],
  });
}

function showLeader(name: string, options: LeaderOptions): Promise<number> {
  return withClient(options, async (around) => {
    const { client, stop, lines } = around;
    const out = printer(lines, options.json === true);
    const { entries } = await currentQueue(client, name, { signal: stop.signal });
    return options.follow ? follow(name, around, out) : showOnce(name, entries[0], out);
  });
}

/** Prints the leader, which is the first candidate in the queue. */
function showOnce(name: string, leader: Candidate | undefined, out: Printer): number {
  if (leader) {
    show(name, { status: 'live', leader }, out);
    return EXIT.ok;
  }
  out.print({ name, status: 'live', leader: null });
  throw new Failure(`there is no leader of ${JSON.stringify(name)}`, { exitCode: EXIT.absent });
}

/** Prints the leader whenever it changes, until a signal stops the command. Never rejects. */
async function follow(name: string, { client, stop }: CommandContext, out: Printer): Promise<number> {
  const shown$ = election(client, name, { value: '' }).leader$.pipe(
    filter(({ status }) => status !== 'connecting'),
    takeUntil(fromEvent(stop.signal, 'abort')),
  );
  await shown$.forEach((state) => {
    show(name, state, out);
  });
  return EXIT.ok;
}

/**
 * Prints a state of the election. While the server is unreachable, prints nothing in text format, because the
 * leader may still be the same. The JSON format shows the status.
 */
function show(name: string, { status, leader }: LeaderState, out: Printer): void {
  const seen = leader && { value: leader.value, key: leader.key, order: leader.order };
  const text = status === 'live' ? [leader?.value ?? ''] : [];
  out.print({ name, status, leader: seen ?? null }, ...text);
}
