import type { Clock } from '@queuelock/core';
import { follow } from '../follow.ts';
import type { Observable, Subscription } from '../rx.ts';
import { topicKey, type StateEvent, type Topic } from '../wire.ts';

/** What can be told about a topic. */
export interface TopicSource {
  /** Emits when there is something new to tell; after the subscription too, if there is anything. */
  readonly changed$: Observable<unknown>;
  /** The picture as of now, whole. */
  readonly draw: () => unknown;
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

/** Who wants to know of a new picture; to be fetched when there is room for it. */
export type NewsOf = (feed: Feed) => void;

// So a picture of a megabyte is sent once a second.
const BYTES_PER_MS = 1_000;

/**
 * The latest picture of a topic for all who look: drawn and encoded once, however many they are, and only when somebody fetches it.
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
  #toldAt = -Infinity;
  #pauseMs: number;
  #cancel: (() => void) | undefined;

  constructor(topic: Topic, source: TopicSource, tools: FeedTools) {
    this.#topic = topic;
    this.#source = source;
    this.#tools = tools;
    this.#pauseMs = tools.paceMs;
    this.#watch = follow(source.changed$, () => this.#onChange());
  }

  /** Of the latest picture; 0: there is none yet. */
  get version(): number {
    return this.#version;
  }

  /** The latest picture as an event. */
  get event(): Uint8Array {
    this.#event ??= this.#encoded();
    return this.#event;
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

  close(): void {
    this.#cancel?.();
    this.#watch.unsubscribe();
    this.#source.close();
  }

  #onChange(): void {
    if (this.#cancel) return;
    const { clock } = this.#tools;
    const waitMs = this.#toldAt + this.#pauseMs - clock.now();
    if (waitMs <= 0) this.#tell();
    else this.#cancel = clock.after(waitMs, () => this.#tell());
  }

  #tell(): void {
    this.#cancel = undefined;
    this.#toldAt = this.#tools.clock.now();
    this.#version = this.#tools.nextVersion();
    this.#event = undefined;
    for (const news of this.#readers) news(this);
  }

  #encoded(): Uint8Array {
    const { paceMs, epoch } = this.#tools;
    const event = { topic: topicKey(this.#topic), picture: this.#source.draw() } satisfies StateEvent;
    // JSON has no line breaks of its own, and escapes those in texts.
    const data = JSON.stringify(event);
    const bytes = Buffer.from(`id: ${epoch}.${String(this.#version)}\nevent: state\ndata: ${data}\n\n`);
    this.#pauseMs = Math.max(paceMs, bytes.byteLength / BYTES_PER_MS);
    return bytes;
  }
}
