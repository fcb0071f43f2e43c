import { appendFileSync } from 'node:fs';
import { SEED_SETTING } from './chance.ts';
import type { Experiment } from './experiment.ts';
import type { Verdict } from '@queuelock/harness/check';
import type { Trial } from './trial.ts';
import { expectNone } from './verdicts.ts';

/** Number of times that a test makes its fault. */
export const RUNS: number = runsOf(process.env['QUEUELOCK_CHAOS_RUNS'] ?? '1');

/** Time limit in milliseconds on a busy machine, for a test that makes its fault once. */
export const TEST_TIMEOUT_MS = 300_000;

const AT_A_TIME = 3;

/** A trial and the name of its store, which is written to a file together with the trial's measurements. */
type Judged = Trial & { readonly store: string };

/**
 * Calls `run`, which makes a fault, repeatedly, several calls at a time. Use it for faults that affect only
 * the workers of one call.
 */
export async function repeatedly(run: (number: number) => Promise<void>): Promise<void> {
  await inBatches(AT_A_TIME, run, async () => undefined);
}

/**
 * Calls `run`, which makes a fault, repeatedly, several calls at a time. When these calls have ended, it ends
 * the workers that they added to the experiment, and makes the next calls.
 */
export async function repeatedlyIn(
  experiment: Experiment,
  run: (number: number) => Promise<void>,
  atATime: number = AT_A_TIME,
): Promise<void> {
  await inBatches(atATime, run, () => experiment.retire([...experiment.workers]));
}

async function inBatches(
  size: number,
  run: (number: number) => Promise<void>,
  between: () => Promise<void>,
): Promise<void> {
  for (let from = 0; from < RUNS; from += size) {
    if (from > 0) await between();
    const batch = Array.from({ length: Math.min(size, RUNS - from) }, (_, index) => from + index);
    await Promise.all(batch.map(run));
  }
}

/**
 * Calls `run`, which makes a fault, repeatedly, one call after another. Use it for faults that affect all
 * workers.
 */
export async function oneByOne(run: (number: number) => Promise<void>): Promise<void> {
  for (let number = 0; number < RUNS; number += 1) await run(number);
}

/** Ends the trial, and expects that the checker finds no violation. */
export async function expectRight(trial: Judged): Promise<Verdict> {
  const verdict = await trial.end();
  noteNumbers(trial, verdict);
  expectNone(verdict.findings, `see ${trial.directory}; ${SEED_SETTING}`);
  return verdict;
}

/** Appends the measurements to the file that the variable QUEUELOCK_CHAOS_NUMBERS names, if it is set. */
function noteNumbers({ store, timing }: Judged, { numbers }: Verdict): void {
  const file = process.env['QUEUELOCK_CHAOS_NUMBERS'];
  if (file) appendFileSync(file, `${JSON.stringify({ store, timing, ...numbers })}\n`);
}

function runsOf(text: string): number {
  const runs = Number(text);
  if (Number.isInteger(runs) && runs >= 1) return runs;
  throw new TypeError(`QUEUELOCK_CHAOS_RUNS: "${text}" is not a whole number from 1 on`);
}
