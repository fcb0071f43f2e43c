import { InvalidArgumentError, type Command } from '@commander-js/extra-typings';
import { toPrintable, type LockClient } from '@queuelock/core';
import { withClient } from '../client.ts';
import type { StoreOptions } from '../config/store-selection.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { explain } from '../help.ts';
import { currentQueue } from '../current-queue.ts';
import { backendOption, jsonOption, label, profileOption, verboseOption } from '../options.ts';
import { printer } from '../printer.ts';
import { positionedEntries, type PositionedEntry } from '../view/positioned-entries.ts';

interface KickOptions extends StoreOptions {
  readonly token: bigint;
  readonly reason: string;
  readonly id?: string;
  readonly json?: true;
}

const NOTES = `The token is that of \`queuelock who\`, so that no other entry is removed than the one that you saw. If no entry of the queue
has this token any more, nothing is done (exit code ${String(EXIT.absent)}). The removed client receives the operator and the reason, and all users can
read them (\`queuelock history\`). A paused process continues when it wakes: only its token can reject its writes.
With --json: removed (true), name, owner, host, pid, token, key.`;

/** Adds the command `kick`, with which an operator removes an entry from a queue. */
export function addKick(program: Command): void {
  const command = program
    .command('kick')
    .summary('remove the holder of a lock, or a waiter')
    .description('Removes the entry with this token from the queue NAME, for instance the holder that hangs.')
    .argument('<name>', 'the lock')
    .requiredOption('--token <token>', 'token of the entry, as `who` prints it', tokenIn)
    .requiredOption('--reason <text>', 'reason, shown to the removed client', label)
    .option('--id <label>', 'name of the operator (default: host:pid)', label)
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
  throw new InvalidArgumentError('It must be a number, as `queuelock who` prints it.');
}

function runKick(name: string, { token, reason, json, ...options }: KickOptions): Promise<number> {
  return withClient(options, async ({ client, stop, lines }) => {
    const entries = positionedEntries(await currentQueue(client, name, stop));
    const found = await entryWithToken(client, { name, token, entries });
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
  /**
   * Entries of the queue, in order. The search for the entry with this `token` starts at the first entry,
   * because operators usually remove that one.
   */
  readonly entries: readonly PositionedEntry[];
}

const AT_A_TIME = 100;

async function entryWithToken(
  client: LockClient,
  { name, token, entries }: Sought,
): Promise<PositionedEntry | undefined> {
  for (let from = 0; from < entries.length; from += AT_A_TIME) {
    const some = entries.slice(from, from + AT_A_TIME);
    const tokens = await Promise.all(some.map(({ entry }) => client.tokenOf(name, entry)));
    const found = some[tokens.indexOf(token)];
    if (found) return found;
  }
  return undefined;
}
