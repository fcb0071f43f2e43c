import type { Command } from '@commander-js/extra-typings';
import { toPrintable, type QueueState } from '@queuelock/core';
import { fromEvent, takeUntil } from 'rxjs';
import { withClient, type CommandContext } from '../client.ts';
import type { StoreOptions } from '../config/store-selection.ts';
import { EXIT } from '../exit-codes.ts';
import { describeFailure } from '../failure.ts';
import { explain } from '../help.ts';
import { currentQueue } from '../current-queue.ts';
import { backendOption, jsonOption, profileOption, verboseOption } from '../options.ts';
import { printer } from '../printer.ts';
import { happenings, type Happening } from '../view/happenings.ts';
import { counted, duration, fit, timeOfDay } from '../view/text.ts';

interface WatchOptions extends StoreOptions {
  readonly json?: true;
}

const NOTES = `Begins with a line for each entry in the queue (present). Runs until it is stopped; while the server cannot be reached it reports
that, and continues afterwards. An entry that joined and left between two reads is not printed.
With --json: t (ms since 1970, when it was seen), ev (present, joined, granted, changed, left, stale, live), owner, host, pid, since,
position (0: admitted; 1: first waiter; ...), held (whether it was admitted), order, key, id, depth (entries in the queue); with stale: reason.`;

/** Adds the command `watch`, which prints the events of a queue. */
export function addWatch(program: Command): void {
  const command = program
    .command('watch')
    .summary('print a line for each change of a queue')
    .description('Watches the queue NAME and prints a line for each join, grant and departure.')
    .argument('<name>', 'the lock')
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (name, options) => {
      process.exitCode = await runWatch(name, options);
    });
  explain(command, {
    notes: NOTES,
    examples: ['queuelock watch nightly', 'queuelock watch nightly --json >> nightly.jsonl'],
  });
}

function runWatch(name: string, { json, ...place }: WatchOptions): Promise<number> {
  return withClient({ ...place, reportsErrors: true }, async (around) => {
    const { client, stop } = around;
    // Fails if the queue cannot be read at the start. Later failures are temporary, and the stream retries by
    // itself.
    await currentQueue(client, name, stop);
    const teller = new ChangePrinter(around, json === true);
    await client
      .watch(name)
      .pipe(takeUntil(fromEvent(stop.signal, 'abort')))
      .forEach((state) => {
        teller.see(state);
      });
    return EXIT.ok;
  });
}

/** Compares each state of a queue with the previous one, and prints the changes. */
class ChangePrinter {
  readonly #output: (facts: object, text: string) => void;
  #before: QueueState | undefined;
  #isStale = false;

  constructor({ lines }: CommandContext, json: boolean) {
    const out = printer(lines, json);
    this.#output = (facts, text) => {
      const t = Date.now();
      out.print({ t, ...facts }, `${timeOfDay(t)}  ${text}`);
    };
  }

  see(state: QueueState): void {
    if (state.status === 'connecting') return;
    if (state.status === 'stale') {
      const reason = describeFailure(state.error, false).replace(/^queuelock: /, '');
      if (!this.#isStale) this.#output({ ev: 'stale', reason }, `stale    ${reason}`);
      this.#isStale = true;
      return;
    }
    const { length: depth } = state.entries;
    if (this.#isStale || (!this.#before && depth === 0))
      this.#output({ ev: 'live', depth }, `live     ${counted(depth, 'entry', 'entries')} in the queue`);
    this.#isStale = false;
    for (const happening of happenings(this.#before, state)) this.#print(happening, depth);
    this.#before = state;
  }

  #print({ ev, entry, position, holds }: Happening, depth: number): void {
    const { owner, host, pid, since, order, key, id } = entry;
    const facts = { ev, owner, host, pid, since, position, held: holds, order, key, id, depth };
    const age = since === undefined ? '' : `, joined ${duration(Date.now() - since)} ago`;
    const where = holds ? 'holds' : `position ${String(position)}`;
    const was = ev === 'left' ? (holds ? 'held' : 'waited') : where;
    const who =
      host === undefined
        ? toPrintable(owner)
        : toPrintable(`${owner} (${host}${pid === undefined ? '' : ` ${String(pid)}`})`);
    this.#output(facts, `${fit(ev, 8)} ${who || '-'}  ${was}${age}  [${String(depth)}]`);
  }
}
