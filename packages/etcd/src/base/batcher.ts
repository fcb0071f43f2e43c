// Folder "base": batches requests, and provides timeouts and the names of RxJS to the other folders.
// batcher.ts (this file) puts requests of one tick into one batch. timeout.ts and shared-timeout.ts provide timeouts that tolerate a
// blocked event loop. rx.ts exports the names that are imported from RxJS.

import { QueueLockError, detailOf, isDefinite, isQueueLockError } from '@queuelock/core/backend';

/** How items, such as requests to etcd, are put into batches, and how a batch is sent. */
export interface BatcherOptions<Item, Result> {
  /** Maximum number of items, such as requests to etcd, in one batch. */
  readonly maxSize: number;
  /** Returns the kind of an item, such as its queue. A batch never contains two items of one kind. */
  readonly kindOf: (item: Item) => string;
  /**
   * Returns whether the request for an item is certain now, because code that runs later in this tick cannot change it. Such an item may be sent
   * before the end of the tick.
   */
  readonly isIndependent: (item: Item) => boolean;
  /** Sends a batch. Returns one promise for each item, in the order of the items. */
  readonly send: (items: readonly Item[]) => readonly Promise<Result>[];
}

interface PendingItem<Item, Result> {
  readonly item: Item;
  readonly resolve: (response: Promise<Result>) => void;
}

// Maximum number of batches in flight. A fifth batch would gain little: if its items wait instead, they share a larger batch with later items.
const MAX_BATCHES = 4;

const HOP = Promise.resolve();
const NOTHING = (): void => undefined;

/**
 * Collects the items of one tick into batches. While fewer than four batches are in flight, items are sent in the tick in which they were added, even
 * a single item. While four batches are in flight, items wait as long as the next batch can grow.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #kinds = new Map<string, PendingItem<Item, Result>[]>();
  #waiting = 0;
  #itemsInFlight = 0;
  #batchesInFlight = 0;
  #isScheduled = false;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve) => {
      const kind = this.#options.kindOf(item);
      const waiting = this.#kinds.get(kind) ?? [];
      this.#kinds.set(kind, waiting);
      waiting.push({ item, resolve });
      this.#waiting += 1;
      this.#schedule();
    });
  }

  /**
   * Schedules the next batch for the end of this tick. A single independent item (`isIndependent`) is sent earlier, after the microtasks that are
   * pending. This saves some thirty function calls, which a callback at the end of the tick takes.
   */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Uses a promise, which costs less time than queueMicrotask(): that allocates an object for its async context.
    void HOP.then(NOTHING).then(() => {
      if (this.#isAlone()) this.#sendAll();
      else process.nextTick(() => this.#sendAll());
    });
  }

  /** Whether only one item waits, it is independent of later code (`isIndependent`), and no batch is in flight. */
  #isAlone(): boolean {
    if (this.#waiting > 1 || this.#batchesInFlight > 0) return false;
    const [[only] = []] = this.#kinds.values();
    return only !== undefined && this.#options.isIndependent(only.item);
  }

  #sendAll(): void {
    this.#isScheduled = false;
    while (this.#waiting > 0 && this.#maySend()) this.#send(this.#nextBatch());
  }

  #maySend(): boolean {
    const { maxSize } = this.#options;
    if (this.#batchesInFlight < MAX_BATCHES) return true;
    // Waits while the next batch can still grow. A batch takes one item of each kind, so a second item of a
    // kind gains nothing by waiting. The number of items in flight is limited, because with too many of them
    // every response would be late.
    const mayGrow = this.#kinds.size < maxSize && this.#waiting === this.#kinds.size;
    return !mayGrow && this.#itemsInFlight + Math.min(this.#kinds.size, maxSize) <= MAX_BATCHES * maxSize;
  }

  /** Takes one waiting item of each kind, beginning with the kinds that have waited longest. */
  #nextBatch(): PendingItem<Item, Result>[] {
    const batch: PendingItem<Item, Result>[] = [];
    for (const [kind, waiting] of [...this.#kinds].slice(0, this.#options.maxSize)) {
      batch.push(...waiting.splice(0, 1));
      this.#kinds.delete(kind);
      if (waiting.length > 0) this.#kinds.set(kind, waiting);
    }
    this.#waiting -= batch.length;
    return batch;
  }

  #send(batch: readonly PendingItem<Item, Result>[]): void {
    this.#batchesInFlight += 1;
    this.#itemsInFlight += batch.length;
    const results = this.#options.send(batch.map(({ item }) => item));
    for (let i = 0; i < batch.length; i += 1) batch[i]?.resolve(results[i] as Promise<Result>);
    void Promise.allSettled(results).then(() => {
      this.#batchesInFlight -= 1;
      this.#itemsInFlight -= batch.length;
      if (this.#waiting > 0) this.#schedule();
    });
  }
}

const TOO_LARGE = /too many operations|request is too large|HTTP status (code )?413/;

/** Returns whether the server refused a request because it is larger than its settings allow. */
export function isTooLarge(error: unknown): error is Error {
  return error instanceof Error && TOO_LARGE.test(error.message);
}

/** Throws `INVALID_ARGUMENT` if the error shows that the server refused a request because of its size. Rethrows every other error. */
export function refuseTooLarge(error: unknown): never {
  if (!isTooLarge(error)) throw error;
  throw new QueueLockError('INVALID_ARGUMENT', detailOf(error), { cause: error });
}

/** Returns whether a batch was refused for a reason that may concern only one of its items. */
export function isRefusalOfOne(error: unknown): boolean {
  return isDefinite(error) && !isQueueLockError(error, 'SESSION_LOST') && !isQueueLockError(error, 'CLOSED');
}
