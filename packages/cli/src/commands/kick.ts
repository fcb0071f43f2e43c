import { InvalidArgumentError, type Command } from '@commander-js/extra-typings';
import { toPrintable, type LockClient } from '@queuelock/core';
import { withClient } from '../client.ts';
import type { PlaceOptions } from '../config/place.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { explain } from '../help.ts';
import { seeQueue } from '../live.ts';
import { backendOption, jsonOption, label, profileOption, verboseOption } from '../options.ts';
import { printer } from '../printer.ts';
import { placesOf, type Place } from '../view/places.ts';

interface KickOptions extends PlaceOptions {
  readonly token: bigint;
  readonly reason: string;
  readonly id?: string;
  readonly json?: true;
}

const NOTES = `The token is that of \`queuelock who\`: with it nobody else is removed than whom you have seen. The entry is removed only if it
is still in the queue with this token, else nothing is done (exit code ${String(EXIT.absent)}). Who was removed learns who did it and why, and it is kept
for all to see (\`queuelock history\`). A process that is paused goes on when it wakes: what it writes is refused by its token only.
With --json: removed (true), name, owner, host, pid, token, key.`;

/** Adds `kick`, by which an operator removes an entry. */
export function addKick(program: Command): void {
  const command = program
    .command('kick')
    .summary('remove the holder of a lock, or a waiter')
    .description('Removes the entry with this token from the queue NAME, for instance the holder that hangs.')
    .argument('<name>', 'the lock')
    .requiredOption('--token <token>', 'of the entry, as `who` shows it', tokenIn)
    .requiredOption('--reason <text>', 'why, for whom it concerns', label)
    .option('--id <label>', 'who does it (default: host:pid)', label)
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (name, options) => {
      process.exitCode = await runKick(name, options);
    });
  explain(command, {
    notes: NOTES,
    examples: ['queuelock kick nightly --token 1042 --reason "hangs since noon, INC-7"'],
  });
}

function tokenIn(text: string): bigint {
  if (/^\d{1,20}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('It must be a number, as `queuelock who` shows it.');
}

function runKick(name: string, { token, reason, json, ...options }: KickOptions): Promise<number> {
  return withClient(options, async ({ client, stop, lines }) => {
    const places = placesOf(await seeQueue(client, name, stop));
    const found = await placeWith(client, { name, token, places });
    if (!found || !(await client.evict(name, found.entry, { reason }))) {
      const message = `no entry of ${JSON.stringify(name)} has the token ${String(token)} any more, nothing was removed; see \`queuelock who\``;
      throw new Failure(message, { exitCode: EXIT.absent });
    }
    const { owner, host, pid, key } = found.entry;
    const what = found.holds ? 'held' : 'waited for';
    const text = `removed ${toPrintable(owner)}, which ${what} ${toPrintable(name)} with token ${String(token)}`;
    printer(lines, json === true).print({ removed: true, name, owner, host, pid, token, key }, text);
    return EXIT.ok;
  });
}

interface Sought {
  readonly name: string;
  readonly token: bigint;
  /** Entries of the queue. The sought one is usually first. */
  readonly places: readonly Place[];
}

const AT_A_TIME = 100;

async function placeWith(client: LockClient, { name, token, places }: Sought): Promise<Place | undefined> {
  for (let from = 0; from < places.length; from += AT_A_TIME) {
    const some = places.slice(from, from + AT_A_TIME);
    const tokens = await Promise.all(some.map(({ entry }) => client.tokenOf(name, entry)));
    const found = some[tokens.indexOf(token)];
    if (found) return found;
  }
  return undefined;
}
