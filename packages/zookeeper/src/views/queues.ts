import {
  QueueLockError,
  withJitter,
  systemClock,
  type Clock,
  type ListedQueue,
} from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { orderOf } from '../queue/entries.ts';
import type { QueuePlaces } from '../queue/queue-place.ts';
import { defer, filter, merge, switchMap, throwError, type Observable } from '../base/rx.ts';
import { walk, type WalkedQueue } from './walk.ts';
import { lookAgainOn } from '../base/looks.ts';

const PAUSE_MS = 1_250;
/** Walks take at most a quarter of the time, however large the tree is. */
const PAUSES_PER_WALK = 3;

/**
 * Emits the queues whose names begin with a text. It walks through the tree repeatedly, since watches on thousands of directories would
 * cost the servers more. Errors when the connection breaks, so that no observer mistakes an old state for the present one.
 */
export function observeQueues(
  zk: ZkDriver,
  places: QueuePlaces,
  beginning: string,
): Observable<readonly ListedQueue[]> {
  return defer(() => {
    const clock = systemClock();
    const counts = new Departures(clock);
    let tookMs = 0;
    let isCurrent = false;
    const look = async (): Promise<readonly ListedQueue[]> => {
      // An observer may have read a newer state through another server.
      if (!isCurrent) await zk.sync();
      isCurrent = true;
      const begun = clock.now();
      const queues = await walk(zk, places, beginning);
      tookMs = clock.now() - begun;
      return counts.listed(queues);
    };
    const again = (): number => withJitter(Math.max(PAUSE_MS, PAUSES_PER_WALK * tookMs), clock);
    return lookAgainOn(merge(breaks(zk), zk.ended$), { look, again });
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
  /** The order of the last entry that was seen. */
  readonly last: bigint;
  readonly left: number;
  readonly seenAt: number;
}

// Long enough for an observer that counts now and then, short enough for names that are used once.
const REMEMBERED_MS = 60_000;

/** Counts the entries that left between two walks. The sequence numbers of a directory show how many were enqueued in between. */
export class Departures {
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
    // A new directory counts from 0: all entries of the old one have left.
    const joined = last >= before.last ? Number(last - before.last) : depth;
    return before.left + Math.max(0, before.depth + joined - depth);
  }
}
