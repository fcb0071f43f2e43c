import { randomBytes } from 'node:crypto';
import type { Command } from '@commander-js/extra-typings';
import { direct, type Script } from '../demo/director.ts';
import type { HistoryEvent } from '../demo/history.ts';
import { judge, type Verdict } from '../demo/judge.ts';
import { openMemoryStage } from '../demo/memory-stage.ts';
import { openProcessStage } from '../demo/process-stage.ts';
import { openShow, type Show } from '../demo/show.ts';
import type { Stage, StageSettings } from '../demo/stage.ts';
import { EXIT } from '../exit-codes.ts';
import { lineWriter } from '../lines.ts';
import { backendOption, verboseOption, wholeNumber } from '../options.ts';
import { createStamp } from '../stamp.ts';
import { Stopped, readerGone, stopOnSignals, type Stop } from '../stop.ts';

interface DemoOptions {
  readonly backend?: string;
  readonly contenders: number;
  readonly rounds: number;
  readonly json?: true;
}

const END_WITHIN_MS = 18_000;
const ALL_HOLDS_MS = 7_000;

const AFTER = `
One contender crashes while it holds the lock, one gives up while it waits. At the end the history is judged: no two holds at a
time, grants in the server's order, growing fencing tokens, everybody served or accounted for.

Examples:
  $ queuelock demo
  $ queuelock demo --backend etcd://127.0.0.1:2379 --contenders 8
  $ queuelock demo --json | tail -1`;

/** Adds `demo`: a queue to look at, with a verdict. */
export function addDemo(program: Command): void {
  program
    .command('demo')
    .summary('watch contenders queue up, crash and give up; ends by itself with a verdict')
    .description(
      'Contenders queue up for one lock, on memory: or on a server, and the result is judged. Takes up to 20 s.',
    )
    .addOption(backendOption())
    .option('--contenders <n>', 'how many', wholeNumber(3, 12), 6)
    .option('--rounds <n>', 'how often each of them wants the lock', wholeNumber(1, 4), 2)
    .option('--json', 'the history, one JSON object a line, and {"ev":"verdict"} at the end')
    .addOption(verboseOption())
    .addHelpText('after', AFTER)
    .action(async (options) => {
      process.exitCode = await runDemo(options);
    });
}

async function runDemo(options: DemoOptions): Promise<number> {
  const stop = stopOnSignals();
  const lines = lineWriter(process.stdout, () => {
    stop.ask(readerGone());
  });
  const stamp = createStamp();
  const script = scriptOf(options);
  const stage = await openStage(options.backend, { name: script.name, stamp });
  try {
    const show = openShow({ lines, stamp, script, stage, json: options.json === true });
    const verdict = await perform({ stage, script, stamp, stop, show });
    show.close(verdict);
    return verdict ? (verdict.ok ? EXIT.ok : EXIT.failure) : (stop.exitCode ?? EXIT.failure);
  } finally {
    await stage.close();
    await lines.flushed();
  }
}

function scriptOf({ contenders, rounds }: DemoOptions): Script {
  const name = `demo-${randomBytes(3).toString('hex')}`;
  return { name, contenders, rounds, holdMs: Math.min(600, Math.floor(ALL_HOLDS_MS / contenders / rounds)) };
}

function openStage(url: string | undefined, settings: StageSettings): Promise<Stage> {
  if (url === undefined || url === '' || /^memory:/i.test(url)) return openMemoryStage(settings);
  return openProcessStage({ ...settings, url });
}

interface Performance {
  readonly stage: Stage;
  readonly script: Script;
  readonly stamp: () => string;
  readonly stop: Stop;
  readonly show: Show;
}

/** Answers with the verdict, or with nothing when the user ended it. */
async function perform({ stop, show, ...rest }: Performance): Promise<Verdict | undefined> {
  const history: HistoryEvent[] = [];
  const emit = (event: HistoryEvent): void => {
    history.push(event);
    show.onEvent(event);
  };
  const timeLimit = new Stopped('its time limit', EXIT.failure);
  const limit = setTimeout(() => {
    stop.ask(timeLimit);
  }, END_WITHIN_MS);
  await direct({ ...rest, emit, onEnter: show.onEnter, onQueue: show.onQueue, stop: stop.signal });
  clearTimeout(limit);
  if (stop.signal.reason === timeLimit) return late(judge(history));
  return stop.signal.aborted ? undefined : judge(history);
}

function late(verdict: Verdict): Verdict {
  const message = `not everybody was served within ${String(END_WITHIN_MS / 1000)} s`;
  return { ...verdict, ok: false, violations: [...verdict.violations, { rule: 'progress', message }] };
}
