import type { AttemptEvent, ChaosEvent } from '@queuelock/harness/check/event';
import type { Experiment } from './experiment.ts';
import type { WorkerProcess } from './worker-process.ts';

export type Queued = Extract<AttemptEvent, { ev: 'queued' }>;
type Acquired = Extract<AttemptEvent, { ev: 'acquired' }>;
type Place = Pick<Queued, 'queue' | 'n'>;

/** Orders the worker to join the queue. Resolves when the worker's new entry is in the queue. */
export async function standIn(worker: WorkerProcess, queue: string, effectEveryMs?: number): Promise<Queued> {
  const from = worker.events.length;
  worker.tell({ do: 'hold', queue, ...(effectEveryMs === undefined ? {} : { effectEveryMs }) });
  return worker.untilEvent('queued', { queue, from });
}

/** Orders the worker to join the queue. Resolves when the worker holds the lock. */
export async function holdNow(worker: WorkerProcess, queue: string, effectEveryMs?: number): Promise<Queued> {
  const entry = await standIn(worker, queue, effectEveryMs);
  await granted(worker, entry);
  return entry;
}

/** Resolves when the worker has been granted the lock with the given entry. */
export async function granted(
  worker: WorkerProcess,
  { queue, n }: Place,
  withinMs?: number,
): Promise<Acquired> {
  return worker.untilEvent('acquired', {
    queue,
    matches: (acquired) => acquired.n === n,
    ...(withinMs === undefined ? {} : { withinMs }),
  });
}

/**
 * Makes the worker leave the queue or release the lock. Resolves when the worker reports that this is
 * confirmed.
 */
export async function leave(worker: WorkerProcess, { queue, n }: Place): Promise<void> {
  worker.tell({ do: 'release', queue, n });
  await worker.untilEvent('left', { queue, matches: (left) => left.n === n });
}

/**
 * Makes the worker leave the queue if it still holds. Resolves when it has left, or when it has lost the lock
 * in the meantime.
 */
export async function leaveIfHeld(worker: WorkerProcess, place: Place): Promise<void> {
  if (!isHeld(worker, place)) return;
  const { queue, n } = place;
  worker.tell({ do: 'release', queue, n });
  const isOver = (event: ChaosEvent): boolean =>
    (event.ev === 'left' || event.ev === 'revoked') && event.queue === queue && event.n === n;
  await worker.until(isOver, { what: 'the end of its hold' });
}

export function isHeld({ openAttempts }: WorkerProcess, { n }: Pick<Place, 'n'>): boolean {
  return openAttempts.some((attempt) => attempt.n === n && attempt.ev === 'acquired');
}

/**
 * An event of a worker that a test waits for: its kind, and the queue of the claim. Events that were recorded
 * before the index `from` do not count.
 */
export interface Awaited<K> {
  readonly ev: K;
  readonly queue: string;
  readonly from: number;
}

// Codes of errors after which a caller should retry.
const AGAIN: ReadonlySet<string> = new Set(['SESSION_LOST', 'UNAVAILABLE']);

/**
 * Resolves with the event of a worker that a test waits for, from the worker's next attempt to get a lock. If
 * the attempt fails because its session ended or the store is unavailable, the worker makes another attempt.
 */
export async function atLast<K extends 'queued' | 'acquired'>(
  worker: WorkerProcess,
  { ev, queue, from }: Awaited<K>,
): Promise<Extract<AttemptEvent, { ev: K }>> {
  // Finds the worker's new attempt by its `enqueue` event. The end of the previous attempt on the queue may
  // not have been recorded yet.
  const { n } = await worker.untilEvent('enqueue', { queue, from });
  const isKnown = (event: ChaosEvent): boolean =>
    (event.ev === ev || event.ev === 'failed') && event.queue === queue && event.n === n;
  const known = await worker.until(isKnown, { from, what: ev });
  if (known.ev !== 'failed') return known as Extract<AttemptEvent, { ev: K }>;
  if (!AGAIN.has(known.code)) throw new Error(`${worker.id}: ${known.message}`);
  worker.tell({ do: 'hold', queue });
  return atLast(worker, { ev, queue, from: worker.events.indexOf(known) + 1 });
}

/** Makes the worker leave the queue, join it again, hold, and leave. */
export async function takeTurn(worker: WorkerProcess, queue: string): Promise<void> {
  worker.tell({ do: 'release', queue });
  const from = worker.events.length;
  worker.tell({ do: 'hold', queue });
  await leave(worker, await atLast(worker, { ev: 'acquired', queue, from }));
}

/** Closes the workers, which removes all of their entries. Resolves when their processes have ended. */
export async function dismiss(...workers: readonly WorkerProcess[]): Promise<void> {
  for (const worker of workers) worker.tell({ do: 'close' });
  await Promise.all(workers.map(({ ended }) => ended));
}

/**
 * Enqueues the workers `worker` and `next` in a new queue. Resolves when the first one holds and the second
 * one waits.
 */
export async function lineUp(
  experiment: Experiment,
  worker: WorkerProcess,
  next: WorkerProcess,
): Promise<string> {
  const queue = experiment.queue(worker.id);
  worker.tell({ do: 'hold', queue });
  await worker.untilEvent('acquired', { queue });
  next.tell({ do: 'hold', queue });
  await next.untilEvent('queued', { queue });
  return queue;
}
