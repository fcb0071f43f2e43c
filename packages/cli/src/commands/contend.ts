import { hostname } from 'node:os';
import type { Command } from '@commander-js/extra-typings';
import { openClient } from '../client.ts';
import { contend } from '../contend/contend.ts';
import type { ContendEvent } from '../contend/event.ts';
import { narrate } from '../contend/narrate.ts';
import { onParentGone, reportBudget } from '../contend/parent.ts';
import { exitCodeOf } from '../exit-codes.ts';
import { lineWriter } from '../lines.ts';
import {
  MAX_MS,
  TTL_DEFAULT,
  TTL_SECONDS,
  backendOption,
  label,
  verboseOption,
  wholeNumber,
} from '../options.ts';
import { createStamp } from '../stamp.ts';
import { Stopped, readerGone, stopOnSignals } from '../stop.ts';

interface ContendOptions {
  readonly backend?: string;
  readonly id: string;
  readonly count: number;
  readonly hold: number;
  readonly gap: number;
  readonly ttl?: number;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ queuelock contend stock --backend etcd://127.0.0.1:2379 --count 3 --hold 200
  $ queuelock contend stock --count 100 --json > history.jsonl`;

/** Adds `contend`: a contender that prints its history. */
export function addContend(program: Command): void {
  program
    .command('contend')
    .summary('join a queue again and again, and print what happens')
    .description(
      'Joins the queue NAME, holds the lock, releases it; --count times. With --json the history is one object a line:\n' +
        "t (nanoseconds of the day's time), id, ev, name, key, token (the server's order), zxid (ZooKeeper), n (round).",
    )
    .argument('<name>', 'the lock')
    .addOption(backendOption())
    .option(
      '--id <id>',
      'label in the queue and in the history',
      label,
      `${hostname()}:${String(process.pid)}`,
    )
    .option('--count <n>', 'how many times', wholeNumber(1, 1_000_000_000), 1)
    .option('--hold <ms>', 'how long to hold each time', wholeNumber(0, MAX_MS), 0)
    .option('--gap <ms>', 'pause between two rounds', wholeNumber(0, MAX_MS), 0)
    .option(
      '--ttl <s>',
      `seconds for which the server keeps the entries of a silent process ${TTL_DEFAULT}`,
      TTL_SECONDS,
    )
    .option('--json', 'one JSON object a line')
    .addOption(verboseOption())
    .addHelpText('after', EXAMPLES)
    .action(async (name, options) => {
      process.exitCode = await runContend(name, options);
    });
}

async function runContend(name: string, options: ContendOptions): Promise<number> {
  const stop = stopOnSignals();
  onParentGone(() => {
    stop.ask(new Stopped('the end of its parent', exitCodeOf('SIGHUP')));
  });
  const lines = lineWriter(process.stdout, () => {
    stop.ask(readerGone());
  });
  const { client } = await openClient({ backend: options.backend, ttl: options.ttl, owner: options.id });
  const stamp = createStamp();
  const emit = (event: ContendEvent): void => {
    lines.write(options.json ? JSON.stringify(event) : narrate(event));
  };
  try {
    const exitCode = await contend(
      {
        client,
        name,
        id: options.id,
        holdMs: options.hold,
        stop: stop.signal,
        stamp,
        emit,
        onHold: (ownership) => {
          reportBudget(ownership, stamp);
        },
      },
      { count: options.count, gapMs: options.gap },
    );
    return stop.exitCode ?? exitCode;
  } finally {
    await client.close();
    await lines.flushed();
  }
}
