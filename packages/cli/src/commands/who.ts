import type { Command } from '@commander-js/extra-typings';
import { toPrintable, type LockClient } from '@queuelock/core';
import { withClient } from '../client.ts';
import type { PlaceOptions } from '../config/place.ts';
import { EXIT } from '../exit-codes.ts';
import { explain } from '../help.ts';
import { seeQueue } from '../live.ts';
import { backendOption, jsonOption, profileOption, verboseOption } from '../options.ts';
import { jsonLine } from '../printer.ts';
import { writeTable } from '../view/output.ts';
import { PLACE_COLUMNS, placeFacts, placeRow, placesOf, type Place } from '../view/places.ts';

interface WhoOptions extends PlaceOptions {
  readonly json?: true;
}

const NOTES = `Ages are by the clocks of the machines that joined; clients of other kinds tell no age, host or process. Who holds may not
have noticed yet. Exit code ${String(EXIT.absent)}: nobody is in the queue.
With --json, for each entry: position (0: its turn has come; 1: first of those who wait; ...), state (holds, waits), owner, host, pid, since (ms since 1970), ageMs,
order, key, id, shared, permits, limit, metadata, request, typicalHoldMs, foreign (with-lease, without-lease: a key that no lock client made), and token (fencing token, a string) of holders.`;

/** Adds `who`, which prints the entries of a queue. */
export function addWho(program: Command): void {
  const command = program
    .command('who')
    .summary('show who holds a lock and who waits for it, in order')
    .description('Shows the queue NAME: the holder with its fencing token, and those who wait, in order.')
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
      ['queuelock who nightly --json | head -1 | jq -r .owner', 'who holds it'],
    ],
  });
}

function runWho(name: string, { json, ...place }: WhoOptions): Promise<number> {
  return withClient(place, async ({ client, stop, lines }) => {
    const places = placesOf(await seeQueue(client, name, stop));
    const tokens = await tokensOf(client, name, places);
    const now = Date.now();
    if (json) {
      for (const place of places)
        lines.write(jsonLine({ ...placeFacts(place, now), token: tokens.get(place) }));
    } else if (places.length === 0) lines.write(`nobody is in the queue ${toPrintable(name)}`);
    else
      writeTable(
        lines,
        PLACE_COLUMNS,
        places.map((place) => placeRow(place, now, tokens.get(place))),
      );
    return places.length === 0 ? EXIT.absent : EXIT.ok;
  });
}

/** Reads the tokens of the holders. Each costs a request where the order is not the token. */
async function tokensOf(
  client: LockClient,
  name: string,
  places: readonly Place[],
): Promise<ReadonlyMap<Place, bigint | undefined>> {
  const holding = places.filter(({ holds }) => holds);
  const tokens = holding.map(async (place) => [place, await client.tokenOf(name, place.entry)] as const);
  return new Map(await Promise.all(tokens));
}
