import type { Command } from '@commander-js/extra-typings';
import { toPrintable, type LockClient } from '@queuelock/core';
import { withClient } from '../client.ts';
import type { StoreOptions } from '../config/store-selection.ts';
import { EXIT } from '../exit-codes.ts';
import { explain } from '../help.ts';
import { currentQueue } from '../current-queue.ts';
import { backendOption, jsonOption, profileOption, verboseOption } from '../options.ts';
import { jsonLine } from '../printer.ts';
import { writeTable } from '../view/output.ts';
import {
  ENTRY_COLUMNS,
  entryFacts,
  entryRow,
  positionedEntries,
  type PositionedEntry,
} from '../view/positioned-entries.ts';

interface WhoOptions extends StoreOptions {
  readonly json?: true;
}

const NOTES = `Ages are by the clocks of the machines that joined; other kinds of clients publish no age, host or process. A holder may not
have noticed its grant yet. Exit code ${String(EXIT.absent)}: the queue is empty.
With --json, for each entry: position (0: admitted; 1: first waiter; ...), state (holds, waits), owner, host, pid, since (ms since 1970), ageMs,
order, key, id, shared, permits, limit, metadata, request, typicalHoldMs, foreign (with-lease, without-lease: a key that no lock client made), and token (fencing token, a string) of holders.`;

/** Adds the command `who`, which prints the entries of a queue. */
export function addWho(program: Command): void {
  const command = program
    .command('who')
    .summary('print the holders and waiters of a lock, in order')
    .description('Prints the queue NAME: the holder with its fencing token, and the waiters in order.')
    .argument('<name>', 'the lock')
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (name, options) => {
      process.exitCode = await runWho(name, options);
    });
  explain(command, {
    notes: NOTES,
    examples: [
      'queuelock who nightly',
      ['queuelock who nightly --json | head -1 | jq -r .owner', 'the holder'],
    ],
  });
}

function runWho(name: string, { json, ...place }: WhoOptions): Promise<number> {
  return withClient(place, async ({ client, stop, lines }) => {
    const places = positionedEntries(await currentQueue(client, name, stop));
    const tokens = await tokensOf(client, name, places);
    const now = Date.now();
    if (json) {
      for (const place of places)
        lines.write(jsonLine({ ...entryFacts(place, now), token: tokens.get(place) }));
    } else if (places.length === 0) lines.write(`no entry is in the queue ${toPrintable(name)}`);
    else
      writeTable(
        lines,
        ENTRY_COLUMNS,
        places.map((place) => entryRow(place, now, tokens.get(place))),
      );
    return places.length === 0 ? EXIT.absent : EXIT.ok;
  });
}

/**
 * Returns the fencing tokens of the holders. On a store whose tokens differ from the order numbers of the
 * entries, each token costs one request.
 */
async function tokensOf(
  client: LockClient,
  name: string,
  places: readonly PositionedEntry[],
): Promise<ReadonlyMap<PositionedEntry, bigint | undefined>> {
  const holding = places.filter(({ holds }) => holds);
  const tokens = holding.map(async (place) => [place, await client.tokenOf(name, place.entry)] as const);
  return new Map(await Promise.all(tokens));
}
