import type { Command } from '@commander-js/extra-typings';
import {
  isQueueLockError,
  toPrintable,
  type Eviction,
  type LockClient,
  type QueueChange,
  type QueueEntry,
  type QueueHistory,
} from '@queuelock/core';
import { firstValueFrom, skip, timeout } from 'rxjs';
import { withClient } from '../client.ts';
import type { StoreOptions } from '../config/store-selection.ts';
import { currentRecord } from '../current-queue.ts';
import { EXIT } from '../exit-codes.ts';
import { explain } from '../help.ts';
import { backendOption, jsonOption, profileOption, verboseOption, wholeNumber } from '../options.ts';
import { printer, type Printer } from '../printer.ts';
import { recordedFacts, recordedLine } from '../view/recorded-hold.ts';
import { counted, fit, timeOfDay } from '../view/text.ts';

interface HistoryOptions extends StoreOptions {
  readonly limit?: number;
  readonly forget?: true;
  readonly json?: true;
}

const NOTES = `Holds are those that their clients recorded (--record of run, elect, once and contend; recordHolds in a program): begin, length, end, owner,
process, token, by the clocks of the holders. "no end recorded": the process died, lost the store, or is about to write the end.
etcd keeps every change until it is compacted; the output marks where the compaction begins. ZooKeeper keeps no departures: there
the changes are the current queue. Other stores keep no changes. A store keeps the order of changes but not their times: the time of a
join is what its client reported. Removals by operators are kept (evicted, with operator and reason).
With --json: first the changes: revision (a string), ev (before, joined, granted, changed, left), held (whether it was admitted), owner,
host, pid, since, order, key, id, eviction (by, reason, kind, at); and {"ev":"gap","text":…} for what is missing. Then the holds: ev (hold),
status (held, ended, unrecorded), reason (released, session-lost, heartbeat-timeout, entry-removed, client-closed), heldMs,
eviction (by, reason), endedAtLatest, owner, host, pid, token, order, id, beganAt.`;

/** Adds the command `history`, which prints the past events of a queue. */
export function addHistory(program: Command): void {
  const command = program
    .command('history')
    .summary('print the past events and recorded holds of a queue')
    .description(
      'Prints the joins, grants and departures of the queue NAME, as far as the store keeps them, then its recorded holds.',
    )
    .argument('<name>', 'the lock')
    .option('--limit <n>', 'only the last n changes, and the last n holds', wholeNumber(1, 1_000_000_000))
    .option('--forget', 'delete the recorded holds after printing them')
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

function runHistory(name: string, { limit, forget, json, ...place }: HistoryOptions): Promise<number> {
  return withClient(place, async ({ client, stop, lines }) => {
    const record = await currentRecord(client, name, stop);
    const past = await changesOf(client, name, record !== undefined);
    const out = printer(lines, json === true);
    if (past) printChanges(out, past, { limit, evictions: await evictionsOf(client, name) });
    else printGap(out, 'this store keeps no changes');
    const holds = record?.holds ?? [];
    for (const hold of limit === undefined ? holds : holds.slice(-limit))
      out.print(recordedFacts(hold), recordedLine(hold));
    if (record && holds.length === 0) printGap(out, 'no hold is recorded: see --record and recordHolds');
    if (forget) await client.forgetHolds(name);
    return EXIT.ok;
  });
}

/**
 * Returns the changes of the queue that the store keeps. Returns `undefined` if the store keeps no changes,
 * and the caller can show records of holds instead.
 */
async function changesOf(
  client: LockClient,
  name: string,
  hasRecord: boolean,
): Promise<QueueHistory | undefined> {
  try {
    return await client.history(name);
  } catch (error) {
    if (hasRecord && isQueueLockError(error, 'INVALID_ARGUMENT')) return undefined;
    throw error;
  }
}

function printChanges(
  out: Printer,
  { before, changes, gaps }: QueueHistory,
  { limit, evictions }: { readonly limit: number | undefined; readonly evictions: readonly Eviction[] },
): void {
  for (const text of gaps) printGap(out, text);
  const shown = limit === undefined ? changes : changes.slice(-limit);
  const hidden = changes.length - shown.length;
  if (hidden > 0) printGap(out, `${counted(hidden, 'change')} left out`);
  else
    for (const entry of before) printChange(out, { revision: undefined, ev: 'before', entry, held: false });
  for (const change of shown) printChange(out, printedChange(change, evictions));
}

function printGap(out: Printer, text: string): void {
  out.print({ ev: 'gap', text }, `# ${text}`);
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
  const reported = eviction && {
    by: eviction.by,
    reason: eviction.reason,
    kind: eviction.kind,
    at: eviction.at,
  };
  const facts = { revision, ev, held, owner, host, pid, since, order, key, id, eviction: reported };
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
 * Resolves with the evictions of a queue. Skips the first value of the stream, which is emitted before the
 * store is read.
 */
function evictionsOf(client: LockClient, name: string): Promise<readonly Eviction[]> {
  const none: readonly Eviction[] = [];
  const seen$ = client.evictions(name).pipe(skip(1), timeout({ first: 5_000 }));
  return firstValueFrom(seen$, { defaultValue: none }).catch(() => none);
}
