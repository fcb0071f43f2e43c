import { setTimeout as pause } from 'node:timers/promises';
import type { Experiment, WorkerOptions } from './experiment.ts';
import { holdNow, standIn, type Queued } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';

const EFFECT_EVERY_MS = 50;

/** Two workers, each of which holds a queue that the other one waits for. */
export interface CrossedPair {
  /** The worker to cut off. */
  readonly cut: WorkerProcess;
  readonly other: WorkerProcess;
  readonly held: Queued;
  /** Entry of the other worker, behind `held`. */
  readonly next: Queued;
  /** Entry of the other worker, which holds; then `waiting` of the first one, and again the other one. */
  readonly before: Queued;
  readonly waiting: Queued;
  readonly behind: Queued;
}

/** @param own Options of the worker that is to be cut off. */
export async function crossedPair(
  experiment: Experiment,
  run: number,
  own: WorkerOptions = {},
): Promise<CrossedPair> {
  const [cut, other] = await Promise.all([experiment.addWorker(own), experiment.addWorker()]);
  const [mine, theirs] = [experiment.queue(`mine-${run}`), experiment.queue(`theirs-${run}`)];
  const held = await holdNow(cut, mine, EFFECT_EVERY_MS);
  const next = await standIn(other, mine, EFFECT_EVERY_MS);
  const before = await holdNow(other, theirs);
  const waiting = await standIn(cut, theirs);
  const behind = await standIn(other, theirs);
  return { cut, other, held, next, before, waiting, behind };
}

export interface CutOff {
  readonly forMs: number;
  /** Runs before the cut is undone. */
  readonly meanwhile?: () => Promise<void>;
}

/** Cuts the worker off from all members, and undoes it after that time. */
export async function cutOff(
  experiment: Experiment,
  { id, place }: WorkerProcess,
  how: CutOff,
): Promise<void> {
  const { members } = experiment.cluster;
  const { forMs, meanwhile } = how;
  const healed = await experiment.fault(`cut off for ${forMs} ms`, id, async () => {
    const undo = await Promise.all(members.map((member) => member.cut({ from: place! })));
    await Promise.all([meanwhile?.(), pause(forMs)]);
    await Promise.all(undo.map((heal) => heal()));
  });
  healed();
}
