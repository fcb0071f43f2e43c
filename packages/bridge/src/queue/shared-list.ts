import type { ListedQueue, LockClient, QueuesState } from '@queuelock/core';
import { follow } from '../follow.ts';
import { Subject, type Observable, type Subscription } from '../rx.ts';
import type { ServerTime } from '../server-time.ts';
import type { ListedQueueSnapshot } from '../wire.ts';

/** The parts of a bridge that `SharedList` uses. */
export interface ListTools {
  readonly client: Pick<LockClient, 'queues'>;
  readonly time: ServerTime;
}

/** The record of one queue in a list. A change of the queue replaces the record by a new object. */
export interface ListedRecord {
  readonly queue: ListedQueue;
  /**
   * Time since which the bridge has seen the queue's present first entry. If `isLonger` is true, the entry
   * was the first even earlier.
   */
  readonly frontAt: number;
  readonly isLonger: boolean;
  /** JSON of the record, encoded once for all lists that contain it. */
  text?: string;
}

/**
 * A list of queues that is read from the store once for several topics. The prefix of each of these topics
 * begins with the prefix of the list.
 */
export class SharedList {
  readonly prefix: string;
  readonly #changed$ = new Subject<void>();
  readonly #time: ServerTime;
  readonly #watch: Subscription;
  #state: QueuesState = { status: 'connecting', queues: [] };
  /** Records of the list's queues, sorted by name. */
  #records: readonly ListedRecord[] = [];
  /**
   * Whether the latest list was read from the store. While the store cannot be reached, the client emits the
   * last known list. The times of changes until the next read are unknown.
   */
  #isContinuous = false;

  /**
   * Begins to read the list from the store.
   * @throws {QueueLockError} `INVALID_ARGUMENT` for a store that cannot list queues
   */
  constructor(prefix: string, { client, time }: ListTools) {
    this.prefix = prefix;
    this.#time = time;
    this.#watch = follow(client.queues(prefix), (state) => this.#take(state));
  }

  get changed$(): Observable<void> {
    return this.#changed$;
  }

  get state(): Pick<QueuesState, 'status' | 'error'> {
    return this.#state;
  }

  /**
   * Returns the queues whose names begin with `prefix`, which begins with the prefix of the list. They are
   * sorted by name.
   */
  recordsOf(prefix: string): readonly ListedRecord[] {
    const first = firstFrom(this.#records, prefix);
    let end = first;
    while (this.#records[end]?.queue.name.startsWith(prefix)) end += 1;
    return this.#records.slice(first, end);
  }

  close(): void {
    this.#watch.unsubscribe();
    this.#changed$.complete();
  }

  #take(state: QueuesState): void {
    this.#state = state;
    const isLive = state.status === 'live';
    if (isLive) this.#records = this.#merged(state.queues);
    this.#isContinuous = isLive;
    this.#changed$.next();
  }

  /**
   * Combines a list of queues from the store with the known records of these queues. Both are sorted by name,
   * so one pass finds all matches.
   */
  #merged(queues: readonly ListedQueue[]): readonly ListedRecord[] {
    const seen = { now: this.#time.now(), isContinuous: this.#isContinuous };
    const known = this.#records;
    let next = 0;
    return queues.map((queue) => {
      while ((known[next]?.queue.name ?? queue.name) < queue.name) next += 1;
      const record = known[next];
      return recordOf(queue, record?.queue.name === queue.name ? record : undefined, seen);
    });
  }
}

function recordOf(
  queue: ListedQueue,
  known: ListedRecord | undefined,
  { now, isContinuous }: { readonly now: number; readonly isContinuous: boolean },
): ListedRecord {
  if (known?.queue.front !== queue.front) return { queue, frontAt: now, isLonger: !isContinuous };
  if (known.queue.depth === queue.depth && known.queue.left === queue.left) return known;
  return { queue, frontAt: known.frontAt, isLonger: known.isLonger };
}

/** Returns the JSON of one queue of a list. It is encoded when it is needed for the first time. */
export function textOf(record: ListedRecord): string {
  record.text ??= JSON.stringify(snapshotOfRecord(record));
  return record.text;
}

function snapshotOfRecord({ queue, frontAt, isLonger }: ListedRecord): ListedQueueSnapshot {
  const { name, depth, front, left: departures } = queue;
  return {
    name,
    depth,
    front: String(front),
    departures,
    frontAt,
    ...(isLonger ? { frontLonger: true } : {}),
  };
}

/**
 * Returns the index of the first queue whose name is not before `prefix` in the sorted list. All queues with
 * this prefix follow from that index on.
 */
function firstFrom(records: readonly ListedRecord[], prefix: string): number {
  let [low, high] = [0, records.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((records[middle]?.queue.name ?? '') < prefix) low = middle + 1;
    else high = middle;
  }
  return low;
}
