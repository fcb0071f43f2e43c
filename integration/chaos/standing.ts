import type { AttemptEvent, ChaosEvent } from '@queuelock/harness/check/event';
import type { Experiment } from './experiment.ts';
import type { WorkerProcess } from './worker-process.ts';

export type Queued = Extract<AttemptEvent, { ev: 'queued' }>;
type Acquired = Extract<AttemptEvent, { ev: 'acquired' }>;
type Place = Pick<Queued, 'queue' | 'n'>;

/** Asks for the queue and resolves when it stands in it; of the attempt that asks now. */
export async function standIn(worker: WorkerProcess, queue: string, effectEveryMs?: number): Promise<Queued> {
  const from = worker.events.length;
  worker.tell({ do: 'hold', queue, ...(effectEveryMs === undefined ? {} : { effectEveryMs }) });
  return worker.untilEvent('queued', { queue, from });
}

/** The same, and resolves when it holds. */
export async function holdNow(worker: WorkerProcess, queue: string, effectEveryMs?: number): Promise<Queued> {
  const entry = await standIn(worker, queue, effectEveryMs);
  await granted(worker, entry);
  return entry;
}

/** Resolves when this entry has become a hold. */
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

/** Gives up that place, and resolves when that is confirmed. */
export async function leave(worker: WorkerProcess, { queue, n }: Place): Promise<void> {
  worker.tell({ do: 'release', queue, n });
  await worker.untilEvent('left', { queue, matches: (left) => left.n === n });
}

/** The same where it holds; a loss that it heard of meanwhile ends the hold as well. */
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

/** How far an attempt has to come, and from which of the worker's events on that counts. */
export interface Awaited<K> {
  readonly ev: K;
  readonly queue: string;
  readonly from: number;
}

// What a caller is told to try again after.
const AGAIN: ReadonlySet<string> = new Set(['SESSION_LOST', 'UNAVAILABLE']);

/** Resolves when the attempt under way has come so far, or, as often as it fails with its session, another one after it. */
export async function atLast<K extends 'queued' | 'acquired'>(
  worker: WorkerProcess,
  { ev, queue, from }: Awaited<K>,
): Promise<Extract<AttemptEvent, { ev: K }>> {
  // Of the attempt before, which was given up for this one, an end may still be on its way.
  const { n } = await worker.untilEvent('enqueue', { queue, from });
  const isKnown = (event: ChaosEvent): boolean =>
    (event.ev === ev || event.ev === 'failed') && event.queue === queue && event.n === n;
  const known = await worker.until(isKnown, { from, what: ev });
  if (known.ev !== 'failed') return known as Extract<AttemptEvent, { ev: K }>;
  if (!AGAIN.has(known.code)) throw new Error(`${worker.id}: ${known.message}`);
  worker.tell({ do: 'hold', queue });
  return atLast(worker, { ev, queue, from: worker.events.indexOf(known) + 1 });
}

/** Gives up whatever it has in this queue, asks anew, holds and leaves. */
export async function takeTurn(worker: WorkerProcess, queue: string): Promise<void> {
  worker.tell({ do: 'release', queue });
  const from = worker.events.length;
  worker.tell({ do: 'hold', queue });
  await leave(worker, await atLast(worker, { ev: 'acquired', queue, from }));
}

/** Ends them, with all that they still have. */
export async function dismiss(...workers: readonly WorkerProcess[]): Promise<void> {
  for (const worker of workers) worker.tell({ do: 'close' });
  await Promise.all(workers.map(({ ended }) => ended));
}

/** A queue in which one holds and the other is next. */
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
