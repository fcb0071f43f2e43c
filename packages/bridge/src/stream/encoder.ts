import type { Clock } from '@queuelock/core';
import type { ClientId } from '../limits/quota.ts';
import type { Feed } from './feed.ts';

/** What snapshots are encoded with. */
export interface EncoderTools {
  readonly clock: Clock;
  /** Bytes of snapshots that are kept for later readers. */
  readonly keptBytes: number;
}

/** How long the bridge encodes before it reads requests again; one piece of a snapshot may take longer. */
const SLICE_MS = 5;
const LEAST_REST_MS = 1;

/**
 * Encodes snapshots in slices, and rests after each slice for as long as it took: so whatever is looked at, half of the time is left for the
 * requests of pages, the touches of those that hold among them. Clients take turns, one snapshot each.
 */
export class Encoder {
  readonly #tools: EncoderTools;
  /** What each client waits for, in the order in which they take turns. */
  readonly #wanted = new Map<ClientId, Set<Feed>>();
  /** Those that were encoded longest ago first. */
  readonly #kept = new Map<Feed, number>();
  #keptBytes = 0;
  #current: { readonly feed: Feed; readonly steps: Generator<void> } | undefined;
  #isWorking = false;
  #cancelRest: (() => void) | undefined;

  constructor(tools: EncoderTools) {
    this.#tools = tools;
  }

  /** Encodes the feed's latest snapshot, at once where the encoder is idle. The feed notifies its readers. */
  want(feed: Feed, client: ClientId): void {
    const wanted = this.#wanted.get(client);
    if (wanted) wanted.add(feed);
    else this.#wanted.set(client, new Set([feed]));
    if (!this.#isWorking && !this.#cancelRest) this.#work();
  }

  close(): void {
    this.#cancelRest?.();
    this.#wanted.clear();
    this.#current = undefined;
  }

  #work(): void {
    const { clock } = this.#tools;
    const began = clock.now();
    this.#isWorking = true;
    while (clock.now() - began < SLICE_MS && this.#step());
    this.#isWorking = false;
    this.#cancelRest = clock.after(Math.max(LEAST_REST_MS, clock.now() - began), () => {
      this.#cancelRest = undefined;
      if (this.#current || this.#wanted.size > 0) this.#work();
    });
  }

  /** Returns whether there was something to do. */
  #step(): boolean {
    this.#current ??= this.#next();
    if (!this.#current) return false;
    const { feed, steps } = this.#current;
    if (!steps.next().done) return true;
    this.#current = undefined;
    this.#keep(feed);
    return true;
  }

  #next(): { readonly feed: Feed; readonly steps: Generator<void> } | undefined {
    for (const [client, wanted] of this.#wanted) {
      const [feed] = wanted;
      this.#wanted.delete(client);
      if (feed) wanted.delete(feed);
      if (wanted.size > 0) this.#wanted.set(client, wanted);
      if (feed && !feed.isClosed && feed.isUnencoded) return { feed, steps: feed.encode() };
    }
    return undefined;
  }

  #keep(feed: Feed): void {
    this.#forget(feed);
    const bytes = feed.isClosed ? 0 : feed.bytes;
    if (bytes === 0) return;
    this.#kept.set(feed, bytes);
    this.#keptBytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= this.#tools.keptBytes || oldest === feed) return;
      this.#forget(oldest);
      oldest.dropEvent();
    }
  }

  #forget(feed: Feed): void {
    this.#keptBytes -= this.#kept.get(feed) ?? 0;
    this.#kept.delete(feed);
  }
}
