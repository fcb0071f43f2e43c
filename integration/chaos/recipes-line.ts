import type { Terms } from '@queuelock/harness/check/event';
import type { Experiment, WorkerOptions } from './experiment.ts';
import { granted, leave, leaveIfHeld, type Queued } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';

const READS: Terms = { shared: true };

/**
 * Three workers: the victim, which faults will affect, and two others. The victim holds one claim of every
 * kind of lock, and the other two workers wait for it.
 */
export interface RecipesLine {
  readonly victim: WorkerProcess;
  /** The worker whose claims wait behind the worker that faults affect. */
  readonly next: WorkerProcess;
  /**
   * The worker that shares locks with the worker that faults affect, for kinds of locks that permit several
   * holders.
   */
  readonly peer: WorkerProcess;
  /** Entries with which the worker that faults affect holds. */
  readonly held: readonly Queued[];
  /** Names of the queues in which other workers wait for the worker that faults affect. */
  readonly contested: readonly string[];
  /**
   * Entries of one queue: a write lock, which its holder can convert to a read lock, and behind it a waiting
   * reader and a waiting writer.
   */
  readonly turning: { readonly held: Queued; readonly reader: Queued; readonly writer: Queued };
  /**
   * Resolves when all workers that waited for the victim have been granted, and the victim has no entry any
   * more.
   */
  served(): Promise<void>;
}

/**
 * Enqueues the claims of the three workers. Resolves when the victim, the worker that faults will affect,
 * holds and the other workers wait.
 * @param own options of the victim
 */
export async function lineUpRecipes(
  experiment: Experiment,
  run: number,
  own: WorkerOptions = {},
): Promise<RecipesLine> {
  const [victim, next, peer] = await Promise.all([
    experiment.addWorker(own),
    experiment.addWorker(),
    experiment.addWorker(),
  ]);
  const name = (kind: string): string => experiment.queue(`${kind}-${run}`);

  const read = name('read');
  const reading = [await holdNow(victim, { queue: read, terms: READS })];
  const besideReader = await holdNow(peer, { queue: read, terms: READS });
  const writer = await request(next, { queue: read });

  const downgraded = name('downgraded');
  reading.push(await holdNow(victim, { queue: downgraded }));
  victim.tell({ do: 'downgrade', queue: downgraded });
  await victim.untilEvent('downgraded', { queue: downgraded });
  const besideDowngraded = await holdNow(peer, { queue: downgraded, terms: READS });
  const behindDowngraded = await request(next, { queue: downgraded });

  const semaphore = name('semaphore');
  const permits = (count: number): Terms => ({ limit: 3, permits: count });
  const part = await holdNow(victim, { queue: semaphore, terms: permits(2) });
  const rest = await holdNow(peer, { queue: semaphore, terms: permits(1) });
  const more = await request(next, { queue: semaphore, terms: permits(2) });

  const [first, middle, last] = [name('first'), name('middle'), name('last')];
  const both = await holdNow(victim, { queue: first, with: [middle] });
  const crossing = await request(next, { queue: last, with: [middle] });
  const behindCrossing = await request(peer, { queue: last });

  const leadership = name('leadership');
  const leads = await holdNow(victim, { queue: leadership, terms: { leader: true } });
  const candidate = await request(next, { queue: leadership, terms: { leader: true } });

  const turned = name('turning');
  const turning = {
    held: await holdNow(victim, { queue: turned }),
    reader: await request(peer, { queue: turned, terms: READS }),
    writer: await request(next, { queue: turned }),
  };

  async function served(): Promise<void> {
    await Promise.all([
      letIn([peer, besideReader], [next, writer]),
      letIn([peer, besideDowngraded], [next, behindDowngraded]),
      granted(next, more),
      granted(next, crossing).then(() => letIn([next, crossing], [peer, behindCrossing])),
      granted(next, candidate),
      granted(peer, turning.reader).then(() => letIn([peer, turning.reader], [next, turning.writer])),
    ]);
    await leave(peer, rest);
  }
  const contested = [read, downgraded, semaphore, middle, leadership, turned];
  return {
    victim,
    next,
    peer,
    contested,
    held: [...reading, part, both, leads, turning.held],
    turning,
    served,
  };
}

type Place = readonly [worker: WorkerProcess, entry: Queued];

/** Makes a worker leave the queue of its entry, and waits until the waiter behind it is admitted. */
async function letIn([holder, entry]: Place, [waiter, behind]: Place): Promise<void> {
  await leaveIfHeld(holder, entry);
  await granted(waiter, behind);
}

/** A claim that a worker is ordered to make. */
export interface Asked {
  readonly queue: string;
  readonly with?: readonly string[];
  readonly terms?: Terms;
}

/** Orders the worker to make the claim. Resolves with its entry as soon as that is in the queue. */
async function request(worker: WorkerProcess, requested: Asked): Promise<Queued> {
  const from = worker.events.length;
  worker.tell({ do: 'hold', ...requested });
  return worker.untilEvent('queued', { queue: requested.queue, from });
}

/** Orders the worker to make the claim. Resolves with its entry as soon as the claim holds. */
export async function holdNow(worker: WorkerProcess, requested: Asked): Promise<Queued> {
  const entry = await request(worker, requested);
  await granted(worker, entry);
  return entry;
}
