import type { Command } from '@commander-js/extra-typings';
import { toPrintable, type ClaimState, type HandoverAnswer, type LockClient } from '@queuelock/core';
import { filter, firstValueFrom, map, scan } from 'rxjs';
import { withClient } from '../client.ts';
import type { PlaceOptions } from '../config/place.ts';
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

interface AskOptions extends PlaceOptions {
  readonly reason: string;
  readonly by: number;
  readonly id?: string;
  readonly ttl?: number;
  readonly json?: true;
}

const NOTES = `It stands in the queue while it asks, so it waits its turn as everybody does, and leaves when it has an answer. What the holder
does is its own choice: only clients of this kind hear requests, and only if their program listens to them.
Exit code 0: the holder yields, has released, or there is none; ${String(EXIT.busy)}: it declined, or did not answer in time.
With --json: name, answer (yields, declined, ignored, released, free), reason (of the holder's answer).`;

/** Adds `ask`, which sends a request to the holder. */
export function addAsk(program: Command): void {
  const command = program
    .command('ask')
    .summary('ask the holder of a lock to make way')
    .description('Asks the holder of the lock NAME to make way, and tells what it answers.')
    .argument('<name>', 'the lock')
    .requiredOption('--reason <text>', 'why; the holder sees it', label)
    .option('--by <ms>', 'how soon an answer is wanted', wholeNumber(1, MAX_MS), 10_000)
    .option('--id <label>', 'who asks (default: host:pid)', label)
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
    const answer = await answerOf(client, name, { reason, withinMs: by, signal: stop.signal });
    const why = answer.reason === undefined ? '' : `: ${toPrintable(answer.reason)}`;
    printer(lines, json === true).print(
      { name, ...answer },
      `${TEXTS[answer.answer]} ${toPrintable(name)}${why}`,
    );
    return answer.answer === 'declined' || answer.answer === 'ignored' ? EXIT.busy : EXIT.ok;
  });
}

const TEXTS: Readonly<Record<Answer['answer'], string>> = {
  yields: 'the holder makes way for',
  declined: 'the holder keeps',
  ignored: 'the holder has not answered in time; it keeps',
  released: 'the holder has released',
  free: 'nobody holds',
};

interface Request {
  readonly reason: string;
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

/** Resolves with the answer. Then leaves the queue, or releases. */
function answerOf(
  client: Pick<LockClient, 'claim'>,
  name: string,
  { signal, ...request }: Request,
): Promise<Answer> {
  const answer$ = client.claim(name, { request, signal }).pipe(
    scan((known: Seen, state) => ({ state, queued: known.queued || state.status === 'queued' }), FIRST),
    map(answerIn),
    filter((answer) => answer !== undefined),
  );
  return firstValueFrom(answer$, { defaultValue: { answer: 'ignored' } });
}

interface Seen {
  readonly state: ClaimState;
  /** The entry has had another one ahead of it. */
  readonly queued: boolean;
}

const FIRST: Seen = { state: { status: 'joining' }, queued: false };

function answerIn({ state, queued }: Seen): Answer | undefined {
  if (state.status === 'queued') return state.answer;
  if (state.status === 'held' || state.status === 'suspect') return { answer: queued ? 'released' : 'free' };
  if (state.status === 'ended' && state.outcome !== 'released') throw state.error;
  return undefined;
}
