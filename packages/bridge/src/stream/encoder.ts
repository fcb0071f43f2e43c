import type { Clock } from '@queuelock/core';
import type { ClientId } from '../limits/quota.ts';
import type { Feed } from './feed.ts';

/** Dependencies of `Encoder`. */
export interface EncoderTools {
  readonly clock: Clock;
  /** Bytes of encoded snapshots that are cached for later readers. */
  readonly keptBytes: number;
}

/** Milliseconds of encoding before the bridge handles requests again. A single piece of a snapshot may take longer. */
const SLICE_MS = 5;
const LEAST_REST_MS = 1;

/**
 * Encodes snapshots in slices, with a pause after each slice that is as long as the slice. So half of the CPU time is left for
 * requests, such as the touches of holders. Clients take turns, one snapshot each.
 */
export class Encoder {
  readonly #tools: EncoderTools;
  /** Feeds that each client waits for, in the order of their turns. */
  readonly #wanted = new Map<ClientId, Set<Feed>>();
  /** Cached feeds, the least recently encoded first. */
  readonly #kept = new Map<Feed, number>();
  #keptBytes = 0;
  #current: { readonly feed: Feed; readonly steps: Generator<void> } | undefined;
  #isWorking = false;
  #cancelRest: (() => void) | undefined;

  constructor(tools: EncoderTools) {
    this.#tools = tools;
  }

  /** Schedules the encoding of the feed's latest snapshot, at once if the encoder is idle. The feed notifies its readers. */
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

  /** Encodes one piece. Returns whether there was any work. */
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
