import {
  QueueLockError,
  withJitter,
  systemClock,
  type Clock,
  type ListedQueue,
} from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { orderOf } from '../queue/entries.ts';
import type { QueueLocations } from '../queue/queue-location.ts';
import { defer, filter, merge, switchMap, throwError, type Observable } from '../base/rx.ts';
import { walk, type WalkedQueue } from './walk.ts';
import { readAgainOn } from '../base/repeated-reads.ts';

const WALK_INTERVAL_MS = 1_250;
/**
 * The time between two walks through the tree, as a multiple of the first walk's duration. So walks take at most a quarter of the time, however large
 * the tree is.
 */
const INTERVALS_PER_WALK = 3;

/**
 * Emits the queues whose names begin with a text. Walks through the tree again and again, since watches on thousands of directories would
 * cost the servers more. Errors when the connection breaks, so that no observer mistakes an old state for the present one.
 */
export function observeQueues(
  zk: ZkDriver,
  locations: QueueLocations,
  beginning: string,
): Observable<readonly ListedQueue[]> {
  return defer(() => {
    const clock = systemClock();
    const counts = new QueueDepartures(clock);
    let tookMs = 0;
    let isCurrent = false;
    const read = async (): Promise<readonly ListedQueue[]> => {
      // The observer may have read a newer state through another server. So a `sync` first brings the server
      // of this session up to date.
      if (!isCurrent) await zk.sync();
      isCurrent = true;
      const startedAt = clock.now();
      const queues = await walk(zk, locations, beginning);
      tookMs = clock.now() - startedAt;
      return counts.listed(queues);
    };
    const repeatAfterMs = (): number =>
      withJitter(Math.max(WALK_INTERVAL_MS, INTERVALS_PER_WALK * tookMs), clock);
    return readAgainOn(merge(breaks(zk), zk.ended$), { read, repeatAfterMs });
  });
}

function breaks(zk: ZkDriver): Observable<never> {
  return zk.connection$.pipe(
    filter(({ status }) => status === 'lost'),
    switchMap(() => throwError(() => new QueueLockError('UNAVAILABLE', 'the connection to ZooKeeper broke'))),
  );
}

interface Known {
  readonly depth: number;
  /** The order number of the last entry of the queue. */
  readonly last: bigint;
  readonly left: number;
  readonly seenAt: number;
}

// How long the number of departures from a queue is remembered after the queue became empty, in milliseconds.
// Observers walk through the tree much more often than that. Names that are used only once do not take memory
// for ever.
const REMEMBERED_MS = 60_000;

/**
 * Counts the entries that have left each queue between two walks through the tree: the entries at the first walk, plus those that joined, minus those
 * at the second walk. The sequence numbers show how many joined.
 */
export class QueueDepartures {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  listed(queues: readonly WalkedQueue[]): readonly ListedQueue[] {
    const now = this.#clock.now();
    const listed = queues.map(({ name, contenders }) => {
      const depth = contenders.length;
      const orders = contenders.map(({ sequence }) => orderOf(sequence));
      const last = orders.at(-1) ?? -1n;
      const left = this.#left(name, { depth, last });
      this.#known.set(name, { depth, last, left, seenAt: now });
      return { name, depth, front: orders[0] ?? -1n, left };
    });
    for (const [name, { seenAt }] of this.#known) if (now - seenAt > REMEMBERED_MS) this.#known.delete(name);
    return listed;
  }

  #left(name: string, { depth, last }: { readonly depth: number; readonly last: bigint }): number {
    const before = this.#known.get(name);
    if (!before) return 0;
    // If the sequence numbers begin again, the directory is a new one: all entries of the old directory have
    // left.
    const joined = last >= before.last ? Number(last - before.last) : depth;
    return before.left + Math.max(0, before.depth + joined - depth);
  }
}
