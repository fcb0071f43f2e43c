import { setTimeout as pause } from 'node:timers/promises';
import type { Experiment, WorkerOptions } from './experiment.ts';
import { holdNow, standIn, type Queued } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';

const EFFECT_EVERY_MS = 50;

/**
 * A worker that a fault will cut off from the servers, and another worker. Each holds one queue, and waits in
 * the queue that the other worker holds.
 */
export interface CrossedPair {
  /** The worker that a fault will cut off from the servers. It holds the first queue. */
  readonly cut: WorkerProcess;
  readonly other: WorkerProcess;
  /** Entry with which the worker that will be cut off holds the first queue. */
  readonly held: Queued;
  /** Entry of the other worker, which waits in the first queue for the worker that will be cut off. */
  readonly next: Queued;
  /** Entry with which the other worker holds the second queue. */
  readonly before: Queued;
  /**
   * Entry with which the worker that will be cut off waits in the second queue, directly behind its holder.
   */
  readonly waiting: Queued;
  /** Another entry of the holder of the second queue. It waits behind the worker that will be cut off. */
  readonly behind: Queued;
}

/**
 * Enqueues the entries of both workers, and resolves when each holds one queue and waits in the other.
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
  /**
   * Called once the worker is cut off from the servers. The cut lasts at least until the promise that this
   * function returns resolves.
   */
  readonly meanwhile?: () => Promise<void>;
}

/** Cuts the worker off from all members of the cluster, and reconnects it after `forMs` milliseconds. */
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
