import type { Clock } from '@queuelock/core';
import { follow } from '../follow.ts';
import type { Observable, Subscription } from '../rx.ts';
import { topicKey, type Topic } from '../wire.ts';

/** What can be told about a topic. */
export interface TopicSource {
  /** Emits when there is something new to tell; after the subscription too, if there is anything. */
  readonly changed$: Observable<unknown>;
  /** The snapshot as of now, whole, in pieces of JSON: between two pieces the bridge may do something else. */
  readonly encode: () => Iterable<string>;
  /** Lets go of what it looks at. */
  readonly close: () => void;
}

/** What all feeds of a bridge share. */
export interface FeedTools {
  readonly clock: Clock;
  readonly paceMs: number;
  /** Begins the ids of events. */
  readonly epoch: string;
  /** Larger at every call. */
  readonly nextVersion: () => number;
}

/** A reader of snapshots: is notified of a new one, and again when it is encoded. */
export type NewsOf = (feed: Feed) => void;

// So a snapshot of a megabyte is sent once a second.
const BYTES_PER_MS = 1_000;

/**
 * The latest snapshot of a topic for all readers: encoded once, however many they are, and only when one of them has room for it.
 * News are told at once, the next ones after a pause.
 */
export class Feed {
  readonly #topic: Topic;
  readonly #source: TopicSource;
  readonly #tools: FeedTools;
  readonly #readers = new Set<NewsOf>();
  readonly #watch: Subscription;
  #version = 0;
  #event: Uint8Array | undefined;
  #failure: { readonly error: unknown } | undefined;
  #toldAt = -Infinity;
  #pauseMs: number;
  #cancel: (() => void) | undefined;
  #isEncoding = false;
  /** Something has changed since the encoding began. */
  #isOutdated = false;
  #isClosed = false;

  constructor(topic: Topic, source: TopicSource, tools: FeedTools) {
    this.#topic = topic;
    this.#source = source;
    this.#tools = tools;
    this.#pauseMs = tools.paceMs;
    this.#watch = follow(source.changed$, () => this.#onChange());
  }

  /** Of the latest snapshot; 0: there is none yet. */
  get version(): number {
    return this.#version;
  }

  /**
   * The latest snapshot as an event; `undefined` until it is encoded.
   * @throws what the source has thrown at the encoding.
   */
  get event(): Uint8Array | undefined {
    if (this.#failure) throw this.#failure.error;
    return this.#event;
  }

  /** Whether there is a snapshot that is not encoded. */
  get isUnencoded(): boolean {
    return this.#version > 0 && !this.#event && !this.#failure;
  }

  /** Of the encoded snapshot. */
  get bytes(): number {
    return this.#event?.byteLength ?? 0;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  read(news: NewsOf): void {
    this.#readers.add(news);
  }

  unread(news: NewsOf): void {
    this.#readers.delete(news);
  }

  /** Encodes the latest snapshot, piece by piece, and notifies the readers. */
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

  /** Makes room: the snapshot is encoded again for its next reader. */
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
    // JSON has no line breaks of its own, and escapes those in texts.
    const bytes = Buffer.from(`id: ${epoch}.${String(this.#version)}\nevent: state\n${pieces.join('')}}\n\n`);
    this.#pauseMs = Math.max(paceMs, bytes.byteLength / BYTES_PER_MS);
    this.#event = bytes;
  }

  #onChange(): void {
    if (this.#isEncoding) this.#isOutdated = true;
    if (this.#isEncoding || this.#cancel || this.#isClosed) return;
    this.#isOutdated = false;
    const { clock } = this.#tools;
    const waitMs = this.#toldAt + this.#pauseMs - clock.now();
    if (waitMs <= 0) this.#tell();
    else
      this.#cancel = clock.after(waitMs, () => {
        this.#cancel = undefined;
        // What is being encoded is told first.
        if (this.#isEncoding) this.#isOutdated = true;
        else this.#tell();
      });
  }

  #tell(): void {
    this.#toldAt = this.#tools.clock.now();
    this.#version = this.#tools.nextVersion();
    this.#event = undefined;
    this.#failure = undefined;
    this.#notify();
  }

  #notify(): void {
    for (const news of this.#readers) news(this);
  }
}
