// Chapter base: which tools know nothing of etcd?
// What is asked for in one turn of the event loop goes together (here); patience with a blocked event loop; the vocabulary of streams (rx).

import { QueueLockError, detailOf, isDefinite, isQueueLockError } from '@queuelock/core/backend';

/** What goes together in one request. */
export interface Gathering<Item, Answer> {
  /** How many at most. */
  readonly most: number;
  /** Two of one kind never go together. */
  readonly kindOf: (item: Item) => string;
  /** Sends these; a promise for each of them, in their order. */
  readonly send: (items: readonly Item[]) => readonly Promise<Answer>[];
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Promise<Answer>) => void;
}

// With so many requests under way another one gains little, and what waits for the next to come back goes with more others.
const AT_ONCE = 4;

/**
 * Gathers what is asked for in one turn of the event loop, and goes on to gather while several requests are under way and there is room
 * in the next one. One alone is sent in the turn in which it comes.
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

  /** Everything that this turn brings comes before. */
  #call(): void {
    if (this.#called || this.#waiting === 0) return;
    this.#called = true;
    // After all that is waiting to go on in this turn. A promise costs less than queueMicrotask(), which makes an object of its context.
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
    // Of one kind there is one in each request, so these gain nothing by waiting. Too many at once would all be late.
    const mayGrow = this.#kinds.size < most && this.#waiting === this.#kinds.size;
    return !mayGrow && this.#underWay + Math.min(this.#kinds.size, most) <= AT_ONCE * most;
  }

  /** One of each kind; the kinds take turns. */
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

/** Whether a server refused a request that is larger than its settings allow. */
export function isTooMuch(error: unknown): error is Error {
  return error instanceof Error && TOO_MUCH.test(error.message);
}

/** For a server that was set up to take less in one request: that is a refusal, and not the member's trouble. */
export function refuseTooMuch(error: unknown): never {
  if (!isTooMuch(error)) throw error;
  throw new QueueLockError('INVALID_ARGUMENT', detailOf(error), { cause: error });
}

/** Whether a request for many was refused, for what may concern only one of them. */
export function isRefusalOfOne(error: unknown): boolean {
  return isDefinite(error) && !isQueueLockError(error, 'SESSION_LOST') && !isQueueLockError(error, 'CLOSED');
}
