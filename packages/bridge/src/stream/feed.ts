import type { Clock } from '@queuelock/core';
import { follow } from '../follow.ts';
import type { Observable, Subscription } from '../rx.ts';
import { topicKey, type Topic } from '../wire.ts';

/** Source of the snapshots of a topic. */
export interface TopicSource {
  /** Emits after each change of the topic, and upon subscription if any state is known. */
  readonly changed$: Observable<unknown>;
  /** Yields the current snapshot in pieces of JSON. The bridge may do other work between two pieces. */
  readonly encode: () => Iterable<string>;
  /** Stops watching the queues and lists from which the snapshots are made. */
  readonly close: () => void;
}

/** Functions and settings that all feeds of a bridge share. */
export interface FeedTools {
  readonly clock: Clock;
  readonly paceMs: number;
  /** Prefix of event ids, which differs for each start of the bridge. */
  readonly epoch: string;
  /** Returns the version number of the next snapshot, which is larger at every call. */
  readonly nextVersion: () => number;
}

/**
 * Listener of a subscriber. The feed calls it for a new snapshot, and again when that snapshot is encoded.
 */
export type FeedListener = (feed: Feed) => void;

// Bytes of one topic's snapshots that may be sent in a millisecond. This limits each topic to a megabyte a
// second.
const BYTES_PER_MS = 1_000;

/**
 * The latest snapshot of a topic for all subscribers. It is encoded once for all of them, and only when one
 * of their connections can take more data. Subscribers are notified of the first change at once, and of
 * further changes after a delay.
 */
export class Feed {
  readonly #topic: Topic;
  readonly #source: TopicSource;
  readonly #tools: FeedTools;
  readonly #readers = new Set<FeedListener>();
  readonly #watch: Subscription;
  #version = 0;
  #event: Uint8Array | undefined;
  #failure: { readonly error: unknown } | undefined;
  #announcedAt = -Infinity;
  #pauseMs: number;
  #cancel: (() => void) | undefined;
  #isEncoding = false;
  /** Whether the source of the snapshots has changed since the encoding of the latest snapshot began. */
  #isOutdated = false;
  #isClosed = false;

  constructor(topic: Topic, source: TopicSource, tools: FeedTools) {
    this.#topic = topic;
    this.#source = source;
    this.#tools = tools;
    this.#pauseMs = tools.paceMs;
    this.#watch = follow(source.changed$, () => this.#onChange());
  }

  /** Version number of the topic's latest snapshot; 0 before the first. */
  get version(): number {
    return this.#version;
  }

  /**
   * The latest snapshot as an event; `undefined` until it is encoded.
   * @throws the error of the source's encoding.
   */
  get event(): Uint8Array | undefined {
    if (this.#failure) throw this.#failure.error;
    return this.#event;
  }

  /** Whether the latest snapshot still has to be encoded. */
  get isUnencoded(): boolean {
    return this.#version > 0 && !this.#event && !this.#failure;
  }

  /** Size of the topic's encoded snapshot in bytes. */
  get bytes(): number {
    return this.#event?.byteLength ?? 0;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  read(listener: FeedListener): void {
    this.#readers.add(listener);
  }

  unread(listener: FeedListener): void {
    this.#readers.delete(listener);
  }

  /** Encodes the latest snapshot piece by piece, and then notifies the subscribers. */
  *encode(): Generator<void> {
    this.#isEncoding = true;
    try {
      const pieces = [`data: {"topic":${JSON.stringify(topicKey(this.#topic))},"snapshot":`];
      for (const piece of this.#source.encode()) {
        pieces.push(piece);
        yield;
      }
      this.#take(pieces);
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#isEncoding = false;
    }
    this.#notify();
    if (this.#isOutdated) this.#onChange();
  }

  /** Frees the memory of the encoded snapshot. It is encoded again for the next subscriber. */
  dropEvent(): void {
    this.#event = undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#watch.unsubscribe();
    this.#source.close();
  }

  #take(pieces: readonly string[]): void {
    const { paceMs, epoch } = this.#tools;
    // A server-sent event has one line `data` for each line of its text. JSON contains no line breaks and
    // escapes those in texts, so a single one is enough.
    const bytes = Buffer.from(`id: ${epoch}.${String(this.#version)}\nevent: state\n${pieces.join('')}}\n\n`);
    this.#pauseMs = Math.max(paceMs, bytes.byteLength / BYTES_PER_MS);
    this.#event = bytes;
  }

  #onChange(): void {
    if (this.#isEncoding) this.#isOutdated = true;
    if (this.#isEncoding || this.#cancel || this.#isClosed) return;
    this.#isOutdated = false;
    const { clock } = this.#tools;
    const waitMs = this.#announcedAt + this.#pauseMs - clock.now();
    if (waitMs <= 0) this.#announce();
    else
      this.#cancel = clock.after(waitMs, () => {
        this.#cancel = undefined;
        // Notifies the subscribers of a change during the encoding only after they were sent the encoded
        // snapshot.
        if (this.#isEncoding) this.#isOutdated = true;
        else this.#announce();
      });
  }

  #announce(): void {
    this.#announcedAt = this.#tools.clock.now();
    this.#version = this.#tools.nextVersion();
    this.#event = undefined;
    this.#failure = undefined;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#readers) listener(this);
  }
}
