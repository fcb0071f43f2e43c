import type { Command } from '@commander-js/extra-typings';
import { toPrintable, type ClaimState, type HandoverAnswer, type LockClient } from '@queuelock/core';
import { filter, firstValueFrom, map, scan } from 'rxjs';
import { withClient } from '../client.ts';
import type { StoreOptions } from '../config/store-selection.ts';
import { EXIT } from '../exit-codes.ts';
import { explain } from '../help.ts';
import {
  MAX_MS,
  TTL_DEFAULT,
  TTL_SECONDS,
  backendOption,
  jsonOption,
  label,
  profileOption,
  verboseOption,
  wholeNumber,
} from '../options.ts';
import { printer } from '../printer.ts';

interface AskOptions extends StoreOptions {
  readonly reason: string;
  readonly by: number;
  readonly id?: string;
  readonly ttl?: number;
  readonly json?: true;
}

const NOTES = `The command joins the queue with its request, waits like any other client, and leaves when the holder has responded. The holder
decides: only queuelock clients receive requests, and only if their program subscribes to them.
Exit code 0: the holder yields, has released, or there is none; ${String(EXIT.busy)}: it declined, or did not respond in time.
With --json: name, answer (yields, declined, ignored, released, free), reason (of the holder's response).`;

/** Adds the command `ask`, which sends a handover request to the holder of a lock. */
export function addAsk(program: Command): void {
  const command = program
    .command('ask')
    .summary('request a lock from its holder')
    .description('Asks the holder of the lock NAME to release it, and prints the response.')
    .argument('<name>', 'the lock')
    .requiredOption('--reason <text>', 'reason that the holder sees', label)
    .option('--by <ms>', 'time limit for the response', wholeNumber(1, MAX_MS), 10_000)
    .option('--id <label>', 'owner label of the request (default: host:pid)', label)
    .option(
      '--ttl <s>',
      `seconds for which the server keeps the entry of a silent process ${TTL_DEFAULT}`,
      TTL_SECONDS,
    )
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (name, options) => {
      process.exitCode = await runAsk(name, options);
    });
  explain(command, {
    notes: NOTES,
    examples: ['queuelock ask nightly --reason "a fix has to go out" --by 30000'],
  });
}

type Answer = Omit<HandoverAnswer, 'answer'> & {
  readonly answer: HandoverAnswer['answer'] | 'released' | 'free';
};

function runAsk(name: string, { reason, by, json, ...options }: AskOptions): Promise<number> {
  return withClient(options, async ({ client, stop, lines }) => {
    const response = await responseOf(client, name, { reason, withinMs: by, signal: stop.signal });
    const why = response.reason === undefined ? '' : `: ${toPrintable(response.reason)}`;
    printer(lines, json === true).print(
      { name, ...response },
      `${TEXTS[response.answer]} ${toPrintable(name)}${why}`,
    );
    return response.answer === 'declined' || response.answer === 'ignored' ? EXIT.busy : EXIT.ok;
  });
}

const TEXTS: Readonly<Record<Answer['answer'], string>> = {
  yields: 'the holder releases',
  declined: 'the holder keeps',
  ignored: 'the holder did not respond in time and keeps',
  released: 'the holder has released',
  free: 'no client holds',
};

interface Request {
  readonly reason: string;
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

/**
 * Resolves with the holder's response to the handover request. Afterwards the client leaves the queue, or
 * releases the lock if it was granted.
 */
function responseOf(
  client: Pick<LockClient, 'claim'>,
  name: string,
  { signal, ...request }: Request,
): Promise<Answer> {
  const answer$ = client.claim(name, { request, signal }).pipe(
    scan((known: Seen, state) => ({ state, queued: known.queued || state.status === 'queued' }), FIRST),
    map(responseIn),
    filter((response) => response !== undefined),
  );
  return firstValueFrom(answer$, { defaultValue: { answer: 'ignored' } });
}

interface Seen {
  readonly state: ClaimState;
  /** Whether this command's entry had to wait behind another entry. */
  readonly queued: boolean;
}

const FIRST: Seen = { state: { status: 'joining' }, queued: false };

function responseIn({ state, queued }: Seen): Answer | undefined {
  if (state.status === 'queued') return state.answer;
  if (state.status === 'held' || state.status === 'suspect') return { answer: queued ? 'released' : 'free' };
  if (state.status === 'ended' && state.outcome !== 'released') throw state.error;
  return undefined;
}
