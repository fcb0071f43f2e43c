import { setTimeout as pause } from 'node:timers/promises';
import type { Experiment, WorkerOptions } from './experiment.ts';
import { holdNow, standIn, type Queued } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';

const EFFECT_EVERY_MS = 50;

/** Two workers. Each of them holds a queue for which the other one waits. */
export interface CrossedPair {
  /** The worker to cut off. */
  readonly cut: WorkerProcess;
  readonly other: WorkerProcess;
  readonly held: Queued;
  /** Entry of the other worker in the queue `held`, where it waits. */
  readonly next: Queued;
  /**
   * Entries in the queue of the other worker: `before` is the one that it holds, then comes `waiting` of the
   * first worker, and then again one of the other worker.
   */
  readonly before: Queued;
  readonly waiting: Queued;
  readonly behind: Queued;
}

/**
 * Makes the two workers hold and wait.
 * @param own options of the worker that will be cut off
 */
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
  /** Runs while the worker is cut off. */
  readonly meanwhile?: () => Promise<void>;
}

/** Cuts the worker off from all members, and reconnects it after `forMs`. */
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
