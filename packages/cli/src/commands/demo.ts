import { randomBytes } from 'node:crypto';
import type { Command } from '@commander-js/extra-typings';
import { findNamedStore, type StoreOptions } from '../config/store-selection.ts';
import { direct, type Script } from '../demo/director.ts';
import type { HistoryEvent } from '../demo/history.ts';
import { judge, type Verdict } from '../demo/judge.ts';
import { openMemoryStage } from '../demo/memory-stage.ts';
import { openProcessStage } from '../demo/process-stage.ts';
import { openShow, type Show } from '../demo/show.ts';
import type { Stage, StageSettings } from '../demo/stage.ts';
import { temporaryFile } from '../demo/temporary-file.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { explain } from '../help.ts';
import { lineWriter, type LineWriter } from '../lines.ts';
import { backendOption, jsonOption, profileOption, verboseOption, wholeNumber } from '../options.ts';
import { createStamp } from '../stamp.ts';
import { Stopped, readerClosed, stopOnSignals, type Stop } from '../stop.ts';

interface DemoOptions extends StoreOptions {
  readonly contenders: number;
  readonly rounds: number;
  readonly page?: boolean;
  readonly json?: true;
}

const END_WITHIN_MS = 18_000;
const ALL_HOLDS_MS = 7_000;

const NOTES = `One contender crashes while it holds the lock, one leaves while it waits. At the end the history is checked: no two holds at a
time, grants in the server's order, growing fencing tokens, every contender served or accounted for.
On a terminal, or with --page, it then serves a page on 127.0.0.1 with contenders that you can add, freeze, kill and cut off, until Ctrl-C.
The exit code is that of the verdict.`;

/**
 * Adds the command `demo`. It runs contenders for one lock and judges their history, and then serves a page
 * on which visitors disturb contenders.
 */
export function addDemo(program: Command): void {
  const command = program
    .command('demo')
    .summary('watch contenders queue, crash and leave, with a verdict; then disturb some from a page')
    .description(
      'Contenders, a process each, queue up for one lock, over a file or on a server, and the result is judged. Takes up to 20 s.',
    )
    .addOption(backendOption())
    .addOption(profileOption())
    .option('--contenders <n>', 'number of contenders', wholeNumber(3, 12), 6)
    .option('--rounds <n>', 'rounds of each contender', wholeNumber(1, 4), 2)
    .option('--page', 'serve the page afterwards, also without a terminal')
    .option('--no-page', 'end after the verdict, also on a terminal')
    .addOption(jsonOption('the history, one JSON object a line, and {"ev":"verdict"} after it'))
    .addOption(verboseOption())
    .action(async (options) => {
      process.exitCode = await runDemo(options);
    });
  explain(command, {
    notes: NOTES,
    examples: [
      'queuelock demo',
      'queuelock demo --backend etcd://127.0.0.1:2379 --contenders 8',
      'queuelock demo --json | tail -1',
    ],
  });
}

/** The store that a demo runs on. */
interface DemoStore {
  readonly url: string;
  /** Whether the store is a temporary file of this demo. */
  readonly isOwnFile: boolean;
}

interface Tools {
  readonly stop: Stop;
  readonly lines: LineWriter;
  readonly stamp: () => string;
  readonly script: Script;
}

async function runDemo(options: DemoOptions): Promise<number> {
  const url = findNamedStore(options)?.url;
  if (options.page === true && isMemory(url))
    throw new Failure('the contenders of the page are processes, which cannot share memory: omit --page', {
      exitCode: EXIT.usage,
    });
  const stop = stopOnSignals();
  const lines = lineWriter(process.stdout, () => {
    stop.request(readerClosed());
  });
  const tools = { stop, lines, stamp: createStamp(), script: scriptOf(options) };
  try {
    if (url !== undefined) return await play({ url, isOwnFile: false }, tools, options);
    await using file = await temporaryFile();
    return await play({ url: file.url, isOwnFile: true }, tools, options);
  } finally {
    await lines.flushed();
  }
}

/** Runs the contenders to their end and shows the verdict, and then serves the page. */
async function play(place: DemoStore, tools: Tools, options: DemoOptions): Promise<number> {
  const { stop, lines, stamp, script } = tools;
  const json = options.json === true;
  const verdict = await contest(place, tools, json);
  if (!verdict) return stop.exitCode ?? EXIT.failure;
  const isWatched = process.stdout.isTTY && !process.env['CI'] && !json;
  if ((options.page ?? isWatched) && !isMemory(place.url) && !stop.signal.aborted) {
    const { showPage } = await import('../arena/show-page.ts');
    await showPage({ ...place, name: `${script.name}-page`, stamp, stop, lines, json, opens: isWatched });
  }
  return verdict.ok ? EXIT.ok : EXIT.failure;
}

/**
 * Runs the contenders. Resolves with the verdict on their history, or with `undefined` when the user stopped
 * the demo.
 */
async function contest(
  place: DemoStore,
  { stop, lines, stamp, script }: Tools,
  json: boolean,
): Promise<Verdict | undefined> {
  const stage = await openStage(place, { name: script.name, stamp });
  try {
    const show = openShow({ lines, stamp, script, stage, json });
    const verdict = await perform({ stage, script, stamp, stop, show });
    show.close(verdict);
    return verdict;
  } finally {
    await stage.close();
  }
}

function scriptOf({ contenders, rounds }: DemoOptions): Script {
  const name = `demo-${randomBytes(3).toString('hex')}`;
  return { name, contenders, rounds, holdMs: Math.min(600, Math.floor(ALL_HOLDS_MS / contenders / rounds)) };
}

function openStage(place: DemoStore, settings: StageSettings): Promise<Stage> {
  return isMemory(place.url) ? openMemoryStage(settings) : openProcessStage({ ...settings, ...place });
}

function isMemory(url = ''): boolean {
  return /^memory:/i.test(url);
}

interface Performance {
  readonly stage: Stage;
  readonly script: Script;
  readonly stamp: () => string;
  readonly stop: Stop;
  readonly show: Show;
}

async function perform({ stop, show, ...rest }: Performance): Promise<Verdict | undefined> {
  const history: HistoryEvent[] = [];
  const emit = (event: HistoryEvent): void => {
    history.push(event);
    show.onEvent(event);
  };
  const timeLimit = new Stopped('its time limit', EXIT.failure);
  const limit = setTimeout(() => {
    stop.request(timeLimit);
  }, END_WITHIN_MS);
  await direct({ ...rest, emit, onJoin: show.onJoin, onQueue: show.onQueue, stop: stop.signal });
  clearTimeout(limit);
  if (stop.signal.reason === timeLimit) return late(judge(history));
  return stop.signal.aborted ? undefined : judge(history);
}

function late(verdict: Verdict): Verdict {
  const message = `some contenders were not served within ${String(END_WITHIN_MS / 1000)} s`;
  return { ...verdict, ok: false, violations: [...verdict.violations, { rule: 'progress', message }] };
}
