import { Option, type Command } from '@commander-js/extra-typings';
import { toPrintable, type ListedQueue } from '@queuelock/core';
import { withClient } from '../client.ts';
import type { StoreOptions } from '../config/store-selection.ts';
import { EXIT } from '../exit-codes.ts';
import { explain } from '../help.ts';
import { backendOption, jsonOption, profileOption, verboseOption, wholeNumber } from '../options.ts';
import { jsonLine } from '../printer.ts';
import { writeTable } from '../view/output.ts';
import { currentQueues } from '../view/current-queues.ts';
import { count } from '../view/text.ts';

interface LsOptions extends StoreOptions {
  readonly sort: 'name' | 'depth';
  readonly limit?: number;
  readonly json?: true;
}

const NOTES = `Prints the queues that are not empty. On etcd it reads keys only; on ZooKeeper it traverses the tree.
With --json, for each queue: name, depth (entries in it, holders included), front (order of the first entry), foreign (number of
keys that no lock client made; a lock waits for these too). On etcd, queues of such keys alone are shown with a prefix, of the URL or here.`;

/** Adds the command `ls`, which lists queues. */
export function addLs(program: Command): void {
  const command = program
    .command('ls')
    .summary('list the queues that are in use')
    .description(
      'Lists the queues whose names begin with PREFIX (default: all), with the number of entries in each.',
    )
    .argument('[prefix]', 'prefix of the queue names', '')
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(
      new Option('--sort <by>', 'sort by name, or the deepest first')
        .choices(['name', 'depth'] as const)
        .default('name' as const),
    )
    .option('--limit <n>', 'largest number of queues', wholeNumber(1, 1_000_000_000))
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (prefix, options) => {
      process.exitCode = await runLs(prefix, options);
    });
  explain(command, {
    notes: NOTES,
    examples: [
      'queuelock ls',
      'queuelock ls invoices/',
      ['queuelock ls --sort depth --limit 10', 'the longest queues'],
    ],
  });
}

/**
 * Maximum length of a printed queue name in UTF-16 code units. Names that queuelock accepts are not longer,
 * but keys of other programs may be.
 */
const MAX_NAME = 512;

function runLs(prefix: string, { sort, limit, json, ...place }: LsOptions): Promise<number> {
  return withClient(place, async ({ client, stop, lines }) => {
    const { queues } = await currentQueues(client, prefix, stop.signal);
    const shown = (sort === 'depth' ? [...queues].sort(deepestFirst) : queues).slice(0, limit);
    if (json)
      for (const { name, depth, front, foreign } of shown)
        lines.write(jsonLine({ name, depth, front, foreign }));
    else if (shown.length > 0) {
      const rows = shown.map(({ name, depth, foreign }) => ({
        cells: [count(depth), foreign === undefined ? '' : count(foreign), toPrintable(name, MAX_NAME)],
      }));
      writeTable(
        lines,
        [
          { title: 'ENTRIES', align: 'right' },
          { title: 'FOREIGN', align: 'right' },
          { title: 'QUEUE', minWidth: 10 },
        ],
        rows,
      );
    }
    return EXIT.ok;
  });
}

function deepestFirst(a: ListedQueue, b: ListedQueue): number {
  return b.depth - a.depth;
}
