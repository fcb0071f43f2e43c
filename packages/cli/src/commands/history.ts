import type { Command } from '@commander-js/extra-typings';
import {
  toPrintable,
  type Eviction,
  type LockClient,
  type QueueChange,
  type QueueEntry,
} from '@queuelock/core';
import { firstValueFrom, skip, timeout } from 'rxjs';
import { withClient } from '../client.ts';
import type { StoreOptions } from '../config/store-selection.ts';
import { EXIT } from '../exit-codes.ts';
import { explain } from '../help.ts';
import { backendOption, jsonOption, profileOption, verboseOption, wholeNumber } from '../options.ts';
import { printer, type Printer } from '../printer.ts';
import { counted, fit, timeOfDay } from '../view/text.ts';

interface HistoryOptions extends StoreOptions {
  readonly limit?: number;
  readonly json?: true;
}

const NOTES = `etcd keeps every change until it is compacted; the output marks where the compaction begins. ZooKeeper keeps no departures: there
the output is the current queue. A store keeps the order of changes but not their times: the time of a join is what its client reported.
Whether a hold was released or lost is not kept either. Removals by operators are kept (evicted, with operator and reason).
With --json: revision (a string), ev (before, joined, granted, changed, left), held (whether it was admitted), owner, host, pid, since,
order, key, id, eviction (by, reason, kind, at); and {"ev":"gap","text":…} for what is missing.`;

/** Adds `history`, which prints the past events of a queue. */
export function addHistory(program: Command): void {
  const command = program
    .command('history')
    .summary('print the past events of a queue, as far as the store keeps them')
    .description('Prints the joins, grants and departures of the queue NAME, in the order of the store.')
    .argument('<name>', 'the lock')
    .option('--limit <n>', 'only the last n changes', wholeNumber(1, 1_000_000_000))
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (name, options) => {
      process.exitCode = await runHistory(name, options);
    });
  explain(command, {
    notes: NOTES,
    examples: ['queuelock history nightly', 'queuelock history nightly --limit 100 --json'],
  });
}

function runHistory(name: string, { limit, json, ...place }: HistoryOptions): Promise<number> {
  return withClient(place, async ({ client, lines }) => {
    const { before, changes, gaps } = await client.history(name);
    const evictions = await evictionsOf(client, name);
    const out = printer(lines, json === true);
    for (const text of gaps) out.print({ ev: 'gap', text }, `# ${text}`);
    const shown = limit === undefined ? changes : changes.slice(-limit);
    const hidden = changes.length - shown.length;
    if (hidden > 0)
      out.print(
        { ev: 'gap', text: `${counted(hidden, 'change')} omitted` },
        `# ${counted(hidden, 'change')} omitted`,
      );
    else
      for (const entry of before) printChange(out, { revision: undefined, ev: 'before', entry, held: false });
    for (const change of shown) printChange(out, printedChange(change, evictions));
    return EXIT.ok;
  });
}

interface PrintedChange {
  readonly revision: bigint | undefined;
  readonly ev: QueueChange['kind'] | 'before';
  readonly entry: QueueEntry;
  readonly held: boolean;
  readonly eviction?: Eviction | undefined;
}

function printedChange({ kind, ...change }: QueueChange, evictions: readonly Eviction[]): PrintedChange {
  const isOf = ({ entry }: Eviction): boolean =>
    entry.key === change.entry.key && entry.order === change.entry.order;
  return { ...change, ev: kind, eviction: kind === 'left' ? evictions.find(isOf) : undefined };
}

function printChange(out: Printer, { revision, ev, entry, held, eviction }: PrintedChange): void {
  const { owner, host, pid, since, order, key, id } = entry;
  const told = eviction && { by: eviction.by, reason: eviction.reason, kind: eviction.kind, at: eviction.at };
  const facts = { revision, ev, held, owner, host, pid, since, order, key, id, eviction: told };
  const who = host === undefined ? owner : `${owner} (${host}${pid === undefined ? '' : ` ${String(pid)}`})`;
  const notes = [
    ev === 'left' ? (held ? 'held' : 'waited') : '',
    ev === 'joined' && since !== undefined
      ? `at ${new Date(since).toISOString().slice(0, 10)} ${timeOfDay(since)}`
      : '',
    eviction ? `${eviction.kind} by ${toPrintable(eviction.by)}: ${toPrintable(eviction.reason)}` : '',
  ].filter((note) => note !== '');
  const place = revision === undefined ? '' : String(revision);
  out.print(
    facts,
    `${fit(place, 12, 'right')}  ${fit(ev, 8)} ${[toPrintable(who) || '-', ...notes].join('  ')}`,
  );
}

/**
 * Resolves with the evictions of a queue. The first state of the stream is skipped, because it is emitted
 * before the evictions are read.
 */
function evictionsOf(client: LockClient, name: string): Promise<readonly Eviction[]> {
  const none: readonly Eviction[] = [];
  const seen$ = client.evictions(name).pipe(skip(1), timeout({ first: 5_000 }));
  return firstValueFrom(seen$, { defaultValue: none }).catch(() => none);
}
