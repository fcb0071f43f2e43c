import type { Command } from '@commander-js/extra-typings';
import { withClient } from '../client.ts';
import { ownFileUrl } from '../config/own-file.ts';
import { findStore, type StoreOptions } from '../config/store-selection.ts';
import { contend } from '../contend/contend.ts';
import type { ContendEvent } from '../contend/event.ts';
import { introduceConnections } from '../contend/introduction.ts';
import { narrate } from '../contend/narrate.ts';
import { parentOf } from '../contend/parent.ts';
import { explain } from '../help.ts';
import {
  MAX_MS,
  TTL_DEFAULT,
  TTL_SECONDS,
  backendOption,
  jsonOption,
  idOption,
  profileOption,
  recordOption,
  verboseOption,
  wholeNumber,
} from '../options.ts';
import { createStamp } from '../stamp.ts';

interface ContendOptions extends StoreOptions {
  readonly id: string;
  readonly count: number;
  readonly hold: number;
  readonly gap: number;
  readonly keep?: true;
  readonly ttl?: number;
  readonly record?: number;
  readonly json?: true;
}

/** Adds the command `contend`, which joins a queue repeatedly and prints each event. */
export function addContend(program: Command): void {
  const command = program
    .command('contend')
    .summary('join a queue again and again, and print what happens')
    .description(
      'Joins the queue NAME, holds the lock, releases it; --count times. With --json the history is one object a line:\n' +
        "t (nanoseconds since 1970), id, ev, name, key, token (the server's order), zxid (ZooKeeper), n (round).",
    )
    .argument('<name>', 'the lock')
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(idOption())
    .option('--count <n>', 'how many times', wholeNumber(1, 1_000_000_000), 1)
    .option('--hold <ms>', 'how long to hold each time', wholeNumber(0, MAX_MS), 0)
    .option('--gap <ms>', 'pause between two rounds', wholeNumber(0, MAX_MS), 0)
    .option('--keep', 'continue after a round that failed, for instance because the server was down')
    .option(
      '--ttl <s>',
      `seconds for which the server keeps the entries of a silent process ${TTL_DEFAULT}`,
      TTL_SECONDS,
    )
    .addOption(recordOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (name, options) => {
      process.exitCode = await runContend(name, options);
    });
  explain(command, {
    examples: [
      'queuelock contend stock --backend etcd://127.0.0.1:2379 --count 3 --hold 200',
      'queuelock contend stock --count 100 --json > history.jsonl',
    ],
    notes: 'Without a backend the queues are in a file of this user, ~/.local/state/queuelock/locks.db.',
  });
}

/**
 * If no option and no environment variable names a store, selects a file that all contenders of this user
 * share.
 */
function withDefaultStore(options: StoreOptions): StoreOptions {
  return findStore(options) ? {} : { backend: ownFileUrl() };
}

function runContend(
  name: string,
  { hold, count, gap, keep, json, ...options }: ContendOptions,
): Promise<number> {
  introduceConnections();
  const stamp = createStamp();
  const parent = parentOf(stamp);
  const place = {
    ...options,
    ...withDefaultStore(options),
    reportsErrors: true as const,
    ...(parent && { wrapBackend: parent.wrapBackend }),
  };
  return withClient(place, async ({ client, stop, lines }) => {
    const emit = (event: ContendEvent): void => {
      lines.write(json ? JSON.stringify(event) : narrate(event));
    };
    const { id } = options;
    const reported = parent && { onHold: parent.follow };
    return contend(
      { client, name, id, holdMs: hold, stop: stop.signal, stamp, emit, ...reported },
      { count, gapMs: gap, keepsGoing: keep === true },
    );
  });
}
