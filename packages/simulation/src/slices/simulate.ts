import { execFileSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { readArguments, refuseArguments } from '@queuelock/harness/command-line';
import { bundlePlayer, startPlayer } from './player.ts';
import {
  countSeeds,
  noProgress,
  slicesLeft,
  withSlice,
  type Outcome,
  type Progress,
  type Slice,
} from './progress.ts';

const HELP = `pnpm simulate etcd|zookeeper --from SEED --to SEED

Plays the runs of all seeds from --from up to, not including, --to. Stopped and started again, it goes on where it was.
Ends with exit code 1 when a run has broken a rule.

  --processes N   how many processes play; default: one for each processor
  --state FILE    where the progress is kept; default: simulation-report/<store>.json
  --restart       forget the progress, which is needed after a change of the code`;
const STORES: readonly string[] = ['etcd', 'zookeeper'];
const SLICE = 50;
/** Time in milliseconds from one line of progress to the next. */
const REPORT_MS = 10_000;

interface Options extends Slice {
  readonly store: string;
  readonly processes: number;
  readonly state: string;
  readonly isRestart: boolean;
}

await simulate(chosenOptions());

function chosenOptions(): Options {
  const text = { type: 'string' } as const;
  const { values, positionals } = readArguments(
    { from: text, to: text, processes: text, state: text, restart: { type: 'boolean' } } as const,
    HELP,
  );
  const [store = ''] = positionals;
  if (!STORES.includes(store)) refuseArguments(`"${store}" is none of ${STORES.join(', ')}.`, HELP);
  const { state = `simulation-report/${store}.json`, restart: isRestart = false } = values;
  return {
    store,
    from: numberOf('--from', values.from),
    to: numberOf('--to', values.to),
    processes: numberOf('--processes', values.processes ?? String(availableParallelism())),
    state,
    isRestart,
  };
}

function numberOf(name: string, text: string | undefined): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  return refuseArguments(`${name} "${text ?? ''}" is not a whole number above 0.`, HELP);
}

function revision(): string {
  const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
  return git('status', '--porcelain', '--untracked-files=no') === '' ? git('rev-parse', 'HEAD') : 'changed';
}

/**
 * Reads the stored progress, or returns empty progress. Ends the process if the stored progress is that of another commit or another store.
 */
function progressOf({ store, state, isRestart }: Options): Progress {
  const now = revision();
  if (isRestart || !existsSync(state)) return noProgress(store, now);
  const progress = JSON.parse(readFileSync(state, 'utf8')) as Progress;
  if (progress.store === store && progress.revision === now) return progress;
  return refuseArguments(
    `${state} is the progress of ${progress.store} at ${progress.revision}, not of ${store} at ${now}: use --restart, or another --state`,
    HELP,
  );
}

/** Replaces the file in one step, so that a process that is killed leaves the old file or the new one. */
function keep(state: string, progress: Progress): void {
  mkdirSync(dirname(state), { recursive: true });
  writeFileSync(`${state}.new`, JSON.stringify(progress, undefined, 1));
  renameSync(`${state}.new`, state);
}

async function simulate(chosen: Options): Promise<void> {
  let progress = progressOf(chosen);
  const left = slicesLeft(progress, chosen, SLICE);
  const player = await bundlePlayer();
  const began = performance.now();
  const before = progress.events;
  let reportAt = began;
  const report = (): void => {
    const rate = Math.round(((progress.events - before) / (performance.now() - began)) * 1_000);
    const { events, grants, violations } = progress;
    console.log(
      `${chosen.store}: ${countSeeds(progress)} seeds, ${events} events (${rate}/s), ${grants} grants, ${violations.length} violations`,
    );
  };
  const work = async (): Promise<void> => {
    const child = startPlayer(player, chosen.store);
    await responseOf(child);
    for (let slice = left.shift(); slice; slice = left.shift()) {
      const response = responseOf<Outcome>(child);
      child.send(slice);
      const outcome = await response;
      progress = withSlice(progress, slice, outcome);
      keep(chosen.state, progress);
      if (performance.now() < reportAt) continue;
      report();
      reportAt = performance.now() + REPORT_MS;
    }
    child.disconnect();
  };
  await Promise.all(Array.from({ length: Math.min(chosen.processes, left.length) }, work));
  report();
  for (const { seed, rule, detail } of progress.violations)
    console.log(`seed ${seed} breaks "${rule}": ${detail}`);
  if (progress.violations.length > 0) process.exitCode = 1;
}

async function responseOf<T>(child: ChildProcess): Promise<T> {
  const answered = new AbortController();
  const { signal } = answered;
  const exit = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`a process that plays runs ended with ${String(code)}`);
  });
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), exit])) as [T];
    return message;
  } finally {
    answered.abort();
  }
}
