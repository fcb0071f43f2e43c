import type { Command } from '@commander-js/extra-typings';
import { toPrintable, type Finding, type LockClient, type QueueState } from '@queuelock/core';
import { withClient } from '../client.ts';
import type { StoreOptions } from '../config/store-selection.ts';
import { EXIT } from '../exit-codes.ts';
import { explain } from '../help.ts';
import { currentQueue } from '../current-queue.ts';
import { backendOption, jsonOption, profileOption, verboseOption } from '../options.ts';
import { jsonLine } from '../printer.ts';
import type { Colour } from '../terminal/paint.ts';
import { clocksAhead } from '../view/clocks.ts';
import { currentQueues } from '../view/current-queues.ts';
import { fit } from '../view/text.ts';

interface DoctorOptions extends StoreOptions {
  readonly prefix: string;
  readonly json?: true;
}

const NOTES = `It reads and changes nothing. It checks each server's version and its known defects, its speed, the settings that a TTL depends on,
keys that block queues and are not entries, kinds of entries that do not wait for each other, and wrong clocks.
It cannot detect whether the clocks of machines run at different rates, which exclusion depends on.
Exit code ${String(EXIT.failure)}: there is an error. With --json: level (ok, warning, error), about, text.`;

/** Adds the command `doctor`, which diagnoses a store. */
export function addDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .summary('diagnose the servers and their queues')
    .description(
      'Connects to the backend at URL (default: the one that all commands use) and prints what is wrong or could be better.',
    )
    .argument('[url]', 'as of --backend')
    .option('--prefix <prefix>', 'check only queues whose names begin with it', '')
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (url, options) => {
      process.exitCode = await runDoctor(url === undefined ? options : { ...options, backend: url });
    });
  explain(command, {
    notes: NOTES,
    examples: [
      'queuelock doctor',
      'queuelock doctor etcd://127.0.0.1:2379',
      'queuelock doctor --profile live --json',
    ],
  });
}

/** Length limit of a finding's text, in UTF-16 code units. */
const MAX_TEXT = 2_000;

const MARKS: Readonly<Record<Finding['level'], string>> = {
  ok: 'ok',
  warning: 'warning',
  error: 'ERROR',
};
const COLOURS: Readonly<Record<Finding['level'], Colour>> = {
  ok: 'green',
  warning: 'yellow',
  error: 'red',
};
const RANK: Readonly<Record<Finding['level'], number>> = { error: 0, warning: 1, ok: 2 };

function runDoctor({ prefix, json, ...place }: DoctorOptions): Promise<number> {
  return withClient(place, async ({ client, stop, lines }) => {
    const reported = await client.diagnose(prefix);
    const isThere = reported.some(({ level }) => level !== 'error');
    const clocks = isThere ? clocksAhead(await someQueues(client, prefix, stop.signal), Date.now()) : [];
    const findings = [...reported, ...clocks].sort((a, b) => RANK[a.level] - RANK[b.level]);
    for (const { level, about, text } of findings) {
      if (json) lines.write(jsonLine({ level, about, text }));
      else
        lines.paint([
          [fit(MARKS[level], 8), COLOURS[level]],
          `${toPrintable(about)}: ${toPrintable(text, MAX_TEXT)}`,
        ]);
    }
    return findings.some(({ level }) => level === 'error') ? EXIT.failure : EXIT.ok;
  });
}

// Largest number of queues in which the command searches for clients whose clock is ahead. Machines with
// entries in other queues only are not checked.
const MAX_QUEUES = 50;

async function someQueues(
  client: LockClient,
  prefix: string,
  signal: AbortSignal,
): Promise<readonly QueueState[]> {
  const { queues } = await currentQueues(client, prefix, signal);
  const seen = queues
    .slice(0, MAX_QUEUES)
    .map(({ name }) =>
      currentQueue(client, name, { signal: AbortSignal.any([signal]) }).catch(() => undefined),
    );
  const states = await Promise.all(seen);
  signal.throwIfAborted();
  return states.filter((state) => state !== undefined);
}
