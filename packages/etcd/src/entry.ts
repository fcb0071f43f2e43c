import { isDefinite, type EntrySpec } from '@queuelock/core/backend';
import type { ITxnResponse } from 'etcd3';
import type { Entered } from './enqueue.ts';
import { entryKey, queuePrefix, rangeUnder, type KeyRange } from './keys.ts';

/** Where an entry comes to be. */
export interface Origin {
  readonly prefix: string;
  readonly lease: string;
  /** The newest revision that was known before anybody asked for the entry. */
  readonly revision: bigint;
}

/** What a session remembers of one entry, from the first request until it is surely removed. */
export class Entry {
  readonly key: Buffer;
  readonly shared: boolean;
  readonly limit: number;
  /** The queue's prefix, and the same as a range. */
  readonly under: string;
  readonly range: KeyRange;
  /** The create revision, once the server has told it. */
  order: bigint | undefined;
  /** The key of its hold's trace, once it may be there. */
  trace: Buffer | undefined;
  /** The core gave the entry up: no further request may put it there. */
  withdrawn = false;
  /** The server said that it is not there any more. */
  gone = false;
  readonly #since: bigint;
  readonly #inFlight = new Set<Promise<Entered>>();
  #unanswered = 0;

  constructor(spec: EntrySpec, { prefix, lease, revision }: Origin) {
    this.under = queuePrefix(prefix, spec.queue);
    this.range = rangeUnder(this.under);
    this.key = Buffer.from(entryKey(this.under, lease, spec));
    this.shared = spec.shared;
    this.limit = spec.limit;
    this.#since = revision;
  }

  /** Whether that order was given by a store that had gone back: it was there before, and so was the token. */
  isOfThePast(order: bigint): boolean {
    return order <= this.#since;
  }

  /** Whether a request that creates the key may still be on its way to the server. A lost one stays so for good. */
  get uncertain(): boolean {
    return this.#unanswered > 0;
  }

  /** Accompanies one request that may create the key, until its answer has been read. */
  async creating(request: Promise<ITxnResponse>, read: (answer: ITxnResponse) => Entered): Promise<Entered> {
    const attempt = this.#attempt(request, read);
    this.#inFlight.add(attempt);
    try {
      return await attempt;
    } finally {
      this.#inFlight.delete(attempt);
    }
  }

  /** Resolves when every request so far was answered or given up. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
  }

  async #attempt(request: Promise<ITxnResponse>, read: (answer: ITxnResponse) => Entered): Promise<Entered> {
    this.#unanswered += 1;
    try {
      const entered = read(await request);
      this.#unanswered -= 1;
      if (entered.status === 'placed') this.order = entered.order;
      return entered;
    } catch (error) {
      if (isDefinite(error)) this.#unanswered -= 1;
      throw error;
    }
  }
}
