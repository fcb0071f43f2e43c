// Chapter base: which tools know nothing of etcd?
// Requests made in one tick share a batch (this file); timeouts that tolerate a blocked event loop (timeout, shared-timeout); names from RxJS (rx).

import { QueueLockError, detailOf, isDefinite, isQueueLockError } from '@queuelock/core/backend';

/** How items are put into batches, and how a batch is sent. */
export interface Gathering<Item, Answer> {
  /** Maximum number of items in a batch. */
  readonly most: number;
  /** A batch never contains two items of the same kind. */
  readonly kindOf: (item: Item) => string;
  /** Sends a batch. Returns one promise for each item, in the order of the items. */
  readonly send: (items: readonly Item[]) => readonly Promise<Answer>[];
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Promise<Answer>) => void;
}

// With four batches in flight a further one gains little. Items that wait for a response then share the next batch with more others.
const AT_ONCE = 4;

/**
 * Collects the items of one tick into batches. While several batches are in flight, it goes on collecting as long as the next batch has
 * room. A single item is sent in the tick in which it was added.
 */
export class Gatherer<Item, Answer> {
  readonly #gathering: Gathering<Item, Answer>;
  readonly #kinds = new Map<string, Waiting<Item, Answer>[]>();
  #waiting = 0;
  #underWay = 0;
  #requests = 0;
  #called = false;

  constructor(gathering: Gathering<Item, Answer>) {
    this.#gathering = gathering;
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve) => {
      const kind = this.#gathering.kindOf(item);
      const waiting = this.#kinds.get(kind) ?? [];
      this.#kinds.set(kind, waiting);
      waiting.push({ item, resolve });
      this.#waiting += 1;
      this.#call();
    });
  }

  /** Schedules the next batch for the end of this tick. */
  #call(): void {
    if (this.#called || this.#waiting === 0) return;
    this.#called = true;
    // Runs after the other microtasks of this tick. A promise costs less than queueMicrotask(), which allocates an object for its context.
    void Promise.resolve().then(() => {
      process.nextTick(() => {
        this.#called = false;
        while (this.#isTime()) void this.#send(this.#portion());
      });
    });
  }

  #isTime(): boolean {
    const { most } = this.#gathering;
    if (this.#waiting === 0) return false;
    if (this.#requests < AT_ONCE) return true;
    // A batch takes one item of each kind, so several items of one kind gain nothing by waiting. Too many in flight would all be late.
    const mayGrow = this.#kinds.size < most && this.#waiting === this.#kinds.size;
    return !mayGrow && this.#underWay + Math.min(this.#kinds.size, most) <= AT_ONCE * most;
  }

  /** Takes one item of each kind, beginning with the kinds that have waited longest. */
  #portion(): Waiting<Item, Answer>[] {
    const portion: Waiting<Item, Answer>[] = [];
    for (const [kind, waiting] of [...this.#kinds].slice(0, this.#gathering.most)) {
      portion.push(...waiting.splice(0, 1));
      this.#kinds.delete(kind);
      if (waiting.length > 0) this.#kinds.set(kind, waiting);
    }
    this.#waiting -= portion.length;
    return portion;
  }

  async #send(portion: readonly Waiting<Item, Answer>[]): Promise<void> {
    this.#requests += 1;
    this.#underWay += portion.length;
    const answers = this.#gathering.send(portion.map(({ item }) => item));
    portion.forEach(({ resolve }, i) => {
      resolve(answers[i] as Promise<Answer>);
    });
    await Promise.allSettled(answers);
    this.#requests -= 1;
    this.#underWay -= portion.length;
    this.#call();
  }
}

const TOO_MUCH = /too many operations|request is too large/;

/** Returns whether the server refused a request because it is larger than its settings allow. */
export function isTooMuch(error: unknown): error is Error {
  return error instanceof Error && TOO_MUCH.test(error.message);
}

/** Throws `INVALID_ARGUMENT` if a server refused the size of a request. Rethrows every other error. */
export function refuseTooMuch(error: unknown): never {
  if (!isTooMuch(error)) throw error;
  throw new QueueLockError('INVALID_ARGUMENT', detailOf(error), { cause: error });
}

/** Returns whether a batch was refused for a reason that may concern only one of its items. */
export function isRefusalOfOne(error: unknown): boolean {
  return isDefinite(error) && !isQueueLockError(error, 'SESSION_LOST') && !isQueueLockError(error, 'CLOSED');
}
