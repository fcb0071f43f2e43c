import type { Clock } from '@queuelock/core';
import type { ClientId } from '../limits/quota.ts';
import type { Feed } from './feed.ts';

/** The settings of an `Encoder`. */
export interface EncoderTools {
  readonly clock: Clock;
  /** Bytes of encoded snapshots that are cached for pages that subscribe later. */
  readonly cachedBytes: number;
}

/**
 * Time in milliseconds that is spent on encoding before the bridge handles requests again. A single piece of
 * a snapshot may take longer.
 */
const SLICE_MS = 5;
const MIN_PAUSE_MS = 1;

/**
 * Encodes snapshots for about 5 ms at a time, and then pauses for as long as that took. So half of the CPU
 * time is left for requests, such as the touches of holders. Clients take turns, with one snapshot each.
 */
export class Encoder {
  readonly #tools: EncoderTools;
  /**
   * For each client, the feeds of which it waits for the next snapshot. The encoder takes the next feed from
   * the first client in this map.
   */
  readonly #queued = new Map<ClientId, Set<Feed>>();
  /** The feeds whose encoded snapshots are cached, the least recently encoded first. */
  readonly #cached = new Map<Feed, number>();
  #cachedBytes = 0;
  #current: { readonly feed: Feed; readonly steps: Generator<void> } | undefined;
  #isWorking = false;
  #cancelPause: (() => void) | undefined;

  constructor(tools: EncoderTools) {
    this.#tools = tools;
  }

  /**
   * Schedules the encoding of the feed's latest snapshot. The encoding begins at once if the encoder is idle.
   * At its end the feed notifies its subscribers.
   */
  schedule(feed: Feed, client: ClientId): void {
    const queued = this.#queued.get(client);
    if (queued) queued.add(feed);
    else this.#queued.set(client, new Set([feed]));
    if (!this.#isWorking && !this.#cancelPause) this.#work();
  }

  close(): void {
    this.#cancelPause?.();
    this.#queued.clear();
    this.#current = undefined;
  }

  #work(): void {
    const { clock } = this.#tools;
    const began = clock.now();
    this.#isWorking = true;
    while (clock.now() - began < SLICE_MS && this.#step());
    this.#isWorking = false;
    this.#cancelPause = clock.after(Math.max(MIN_PAUSE_MS, clock.now() - began), () => {
      this.#cancelPause = undefined;
      if (this.#current || this.#queued.size > 0) this.#work();
    });
  }

  /** Encodes one piece of the next snapshot. Returns `false` if no snapshot waits to be encoded. */
  #step(): boolean {
    this.#current ??= this.#next();
    if (!this.#current) return false;
    const { feed, steps } = this.#current;
    if (!steps.next().done) return true;
    this.#current = undefined;
    this.#cache(feed);
    return true;
  }

  #next(): { readonly feed: Feed; readonly steps: Generator<void> } | undefined {
    for (const [client, queued] of this.#queued) {
      const [feed] = queued;
      this.#queued.delete(client);
      if (feed) queued.delete(feed);
      if (queued.size > 0) this.#queued.set(client, queued);
      if (feed && !feed.isClosed && feed.isUnencoded) return { feed, steps: feed.encode() };
    }
    return undefined;
  }

  #cache(feed: Feed): void {
    this.#forget(feed);
    const bytes = feed.isClosed ? 0 : feed.bytes;
    if (bytes === 0) return;
    this.#cached.set(feed, bytes);
    this.#cachedBytes += bytes;
    for (const oldest of this.#cached.keys()) {
      if (this.#cachedBytes <= this.#tools.cachedBytes || oldest === feed) return;
      this.#forget(oldest);
      oldest.dropEvent();
    }
  }

  #forget(feed: Feed): void {
    this.#cachedBytes -= this.#cached.get(feed) ?? 0;
    this.#cached.delete(feed);
  }
}
