import { isDefinite, type EntrySpec } from '@queuelock/core/backend';
import type { ITxnResponse } from 'etcd3';
import type { Entered, Found } from './entered.ts';
import {
  entryKey,
  entryStem,
  markDirectory,
  queuePrefix,
  rangeOfStem,
  rangeUnder,
  readKey,
  traceDirectory,
  type KeyRange,
} from './keys.ts';
import type { Target } from './txn.ts';

/** Where an entry comes to be. */
export interface Origin {
  readonly prefix: string;
  readonly lease: string;
  /** The newest revision that was known before anybody asked for the entry. */
  readonly revision: bigint;
  /** Where the session was resumed: entries below were made by another process. 0 if it was not. */
  readonly resumedAt: bigint;
  /** The key that clients without a queue lock in its stead. */
  readonly single?: Buffer | undefined;
}

/** What a session remembers of one entry, from the first request until it is surely removed. */
export class Entry {
  /** As stored, once the server has told it; as it would be stored before. */
  key: Buffer;
  /** Whether it is one now, to shared ones behind it. */
  shared: boolean;
  /** The queue's prefix, and the same as a range. */
  readonly under: string;
  readonly range: KeyRange;
  /** Where the marks of the queue are. */
  readonly markDirectory: string;
  /** Where to look for it: in a resumed session at all keys that it may have, since its limit may have been another one. */
  readonly sought: Target;
  /** Where to look for its mark, in a resumed session. */
  readonly soughtMark: Target | undefined;
  /** The create revision, once the server has told it. */
  order: bigint | undefined;
  /** The key of its hold's trace, once it may be there. */
  trace: Buffer | undefined;
  /** Its mark, once it may be there. */
  mark: Buffer | undefined;
  /** The key that it has to create as well before it owns anything; see `single-key.ts`. */
  readonly single: Buffer | undefined;
  /** Whether it may have created that. */
  claimed = false;
  /** The core gave the entry up: no further request may put it there. */
  withdrawn = false;
  /** The server said that it is not there any more. */
  gone = false;
  readonly #origin: Origin;
  readonly #queue: string;
  readonly #inFlight = new Set<Promise<Entered>>();
  #unanswered = 0;

  constructor(spec: EntrySpec, origin: Origin) {
    const { prefix, lease, resumedAt } = origin;
    this.under = queuePrefix(prefix, spec.queue);
    this.range = rangeUnder(this.under);
    this.markDirectory = markDirectory(prefix, spec.queue);
    this.key = Buffer.from(entryKey(this.under, lease, spec));
    this.shared = spec.shared;
    const resumed = resumedAt > 0n;
    this.sought = resumed ? rangeOfStem(entryStem(this.under, lease, spec.id)) : { key: this.key };
    this.soughtMark = resumed ? rangeOfStem(entryStem(this.markDirectory, lease, spec.id)) : undefined;
    this.single = origin.single;
    this.#origin = origin;
    this.#queue = spec.queue;
  }

  /** The key's last part, under which traces and marks know the entry. */
  get name(): string {
    return this.key.toString().slice(this.under.length);
  }

  get traceKey(): Buffer {
    return Buffer.from(traceDirectory(this.#origin.prefix, this.#queue) + this.name);
  }

  get markKey(): Buffer {
    return Buffer.from(this.markDirectory + this.name);
  }

  /** Permits that it takes, as others see it. */
  get permits(): number {
    return readKey(this.under, this.key)?.permits ?? 1;
  }

  /** Whether that order was given by a store that had gone back: it was there before, and so was the token. */
  isOfThePast(order: bigint): boolean {
    return order > this.#origin.resumedAt && order <= this.#origin.revision;
  }

  /** Whether a request that creates the key may still be on its way to the server. A lost one stays so for good. */
  get uncertain(): boolean {
    return this.#unanswered > 0;
  }

  /** Takes over what the server has of it, which another process may have made. */
  recognize({ key, order, marked }: Found): void {
    this.order = order;
    this.key = key;
    if (this.soughtMark) this.shared = marked || readKey(this.under, key)?.shared === true;
    if (marked) this.mark = this.markKey;
    if (order >= this.#origin.resumedAt) return;
    this.trace = this.traceKey;
    this.claimed = this.single !== undefined;
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
      if (entered.status === 'found') this.recognize(entered);
      if (entered.status === 'made') this.order = entered.order;
      return entered;
    } catch (error) {
      if (isDefinite(error)) this.#unanswered -= 1;
      throw error;
    }
  }
}
