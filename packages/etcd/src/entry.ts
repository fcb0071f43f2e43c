import { isDefinite, type EntrySpec } from '@queuelock/core/backend';
import { entryKey, queuePrefix, rangeUnder, type KeyRange } from './keys.ts';

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
  /** The core gave the entry up: no further request may put it there. */
  withdrawn = false;
  /** The server said that it is not there any more. */
  gone = false;
  readonly #inFlight = new Set<Promise<unknown>>();
  #unanswered = 0;

  constructor(spec: EntrySpec, { prefix, lease }: { readonly prefix: string; readonly lease: string }) {
    this.under = queuePrefix(prefix, spec.queue);
    this.range = rangeUnder(this.under);
    this.key = Buffer.from(entryKey(this.under, lease, spec));
    this.shared = spec.shared;
    this.limit = spec.limit;
  }

  /** Whether a request that creates the key may still be on its way to the server. Stays so for good. */
  get uncertain(): boolean {
    return this.#unanswered > 0;
  }

  /** Accompanies one request that creates the key. */
  async creating<T>(request: Promise<T>): Promise<T> {
    this.#inFlight.add(request);
    this.#unanswered += 1;
    try {
      const answer = await request;
      this.#unanswered -= 1;
      return answer;
    } catch (error) {
      if (isDefinite(error)) this.#unanswered -= 1;
      throw error;
    } finally {
      this.#inFlight.delete(request);
    }
  }

  /** Settles when every request so far was answered or given up. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
  }
}
