import type { Command } from '@commander-js/extra-typings';
import { withClient, type CommandContext } from '../client.ts';
import type { StoreOptions } from '../config/store-selection.ts';
import { EXIT } from '../exit-codes.ts';
import { explain } from '../help.ts';
import { MAX_MS, backendOption, jsonOption, profileOption, verboseOption, wholeNumber } from '../options.ts';
import { canDraw } from '../terminal/terminal.ts';
import { currentQueues, shareQueues } from '../view/current-queues.ts';
import { runBatch } from '../view/top-batch.ts';
import { runLive } from '../view/top-live.ts';

interface TopOptions extends StoreOptions {
  readonly every: number;
  readonly count?: number;
  readonly json?: true;
}

const NOTES = `On a terminal: keys d h l w n sort by entries, hand-offs, time held, wait, name; / filters; Enter opens a queue; ? shows help; q quits.
Elsewhere, or with --count or --json, it prints a snapshot every --every milliseconds until it is stopped.
Hand-offs are counted from the start of the command. While the server cannot be reached it reports that, and continues afterwards.
With --json, for each snapshot: t (ms since 1970), status (live, stale), queues, each with name, depth, handOffsPerS, heldMs,
heldLonger (it was held before the first snapshot), turnMs, waitMs (expected wait of a new entry).`;

/** Adds the command `top`, which shows the activity of queues. */
export function addTop(program: Command): void {
  const command = program
    .command('top')
    .summary('watch the busiest queues')
    .description(
      'Shows the queues whose names begin with PREFIX (default: all): depth, hand-offs, hold times.',
    )
    .argument('[prefix]', 'prefix of the queue names', '')
    .option('--every <ms>', 'interval of the printed snapshots', wholeNumber(100, MAX_MS), 2_000)
    .option('--count <n>', 'number of snapshots to print', wholeNumber(1, 1_000_000_000))
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(jsonOption('one JSON object a snapshot'))
    .addOption(verboseOption())
    .action(async (prefix, options) => {
      process.exitCode = await runTop(prefix, options);
    });
  explain(command, {
    notes: NOTES,
    examples: [
      'queuelock top',
      'queuelock top invoices/',
      ['queuelock top --count 1 --json', 'for a script'],
    ],
  });
}

function runTop(prefix: string, { every, count, json, ...place }: TopOptions): Promise<number> {
  return withClient(place, async (around: CommandContext) => {
    const { client, stop } = around;
    const source = { ...around, list: shareQueues(client, prefix) };
    // Reads the queues once before the view takes over the terminal. So an unreachable server is reported as
    // an ordinary error.
    await currentQueues(source.list, prefix, stop.signal);
    const { stdin, stdout } = process;
    const isLive = !json && count === undefined && stdin.isTTY && canDraw(stdout);
    if (isLive) await runLive(source, { prefix, terminal: stdout, keyboard: stdin });
    else await runBatch(source, { prefix, everyMs: every, count, json: json === true });
    return EXIT.ok;
  });
}
