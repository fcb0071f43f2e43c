import type { Clock } from '@queuelock/core';
import type { BytesInFlight } from '../limits/bytes-in-flight.ts';
import type { ClientId } from '../limits/quota.ts';
import type { Encoder } from './encoder.ts';
import type { Feed } from './feed.ts';

/** What a stream goes by. */
export interface SseConnectionSettings {
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly stuckMs: number;
  readonly client: ClientId;
  readonly encoder: Pick<Encoder, 'want'>;
  readonly inFlight: Pick<BytesInFlight, 'take' | 'forget'>;
  /** Is called once, when the stream has ended for whatever reason. */
  readonly onEnd: () => void;
}

const HEARTBEAT = Buffer.from(':\n\n');

/**
 * One client's stream. Of each topic only the newest snapshot is kept for it, as a mark on a feed that all share, and nothing is fetched
 * before the client has read what came before: so a slow client costs no memory but that of one snapshot, and sees the latest next.
 */
export class SseConnection {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #settings: SseConnectionSettings;
  readonly #news = new Set<Feed>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isWanted = false;
  #hasEnded = false;
  #sentAt: number;
  /** What is sent before all snapshots. */
  readonly #words: Uint8Array[] = [];
  #cancelBeat: () => void;
  /** Of the snapshot that was sent last, and is not read yet. */
  #onRead: (() => void) | undefined;

  readonly #send = (): void => {
    if (!this.#isWanted) return;
    try {
      const chunk = this.#words.length > 0 ? Buffer.concat(this.#words.splice(0)) : this.#nextSnapshot();
      if (chunk) this.#enqueue(chunk);
    } catch (error) {
      // A snapshot that cannot be made: the client tries again.
      if (this.#end()) this.#controller?.error(error);
    }
  };

  constructor(settings: SseConnectionSettings) {
    this.#settings = settings;
    this.#sentAt = settings.clock.now();
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#readAll();
          this.#isWanted = true;
          this.#send();
        },
        cancel: () => void this.#end(),
      },
      { highWaterMark: 0 },
    );
    this.#cancelBeat = this.#beatLater();
  }

  /** To be said before all snapshots. */
  say(words: string): void {
    this.#words.push(Buffer.from(words));
  }

  /** There is a new snapshot of this topic. */
  readonly news = (feed: Feed): void => {
    if (this.#hasEnded) return;
    this.#news.add(feed);
    this.#send();
  };

  /** Ends the stream for its reader too. */
  close(): void {
    if (this.#end()) this.#controller?.close();
  }

  /** `undefined` when there is none, or none yet: the feed and the bytes in flight notify when there is. */
  #nextSnapshot(): Uint8Array | undefined {
    const { client, encoder, inFlight } = this.#settings;
    // The oldest first: so the id of an event says that everything older was sent.
    let oldest: Feed | undefined;
    for (const feed of this.#news) if (!oldest || feed.version < oldest.version) oldest = feed;
    if (!oldest) return undefined;
    const { event } = oldest;
    if (!event) {
      encoder.want(oldest, client);
      return undefined;
    }
    const onRead = inFlight.take(event, client, this.#send);
    if (!onRead) return undefined;
    this.#onRead = onRead;
    this.#news.delete(oldest);
    return event;
  }

  #readAll(): void {
    this.#onRead?.();
    this.#onRead = undefined;
  }

  #enqueue(chunk: Uint8Array): void {
    this.#isWanted = false;
    this.#sentAt = this.#settings.clock.now();
    this.#controller?.enqueue(chunk);
  }

  #beatLater(): () => void {
    const { clock, heartbeatMs } = this.#settings;
    return clock.after(heartbeatMs, () => {
      this.#cancelBeat = this.#beatLater();
      this.#beat();
    });
  }

  #beat(): void {
    const { clock, stuckMs } = this.#settings;
    if (this.#isWanted) this.#enqueue(HEARTBEAT);
    else if (clock.now() - this.#sentAt >= stuckMs && this.#end())
      this.#controller?.error(new Error(`nothing was read for ${String(stuckMs)} ms`));
  }

  /** Whether it had not ended before. */
  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#isWanted = false;
    this.#cancelBeat();
    this.#news.clear();
    this.#settings.inFlight.forget(this.#send);
    this.#readAll();
    this.#settings.onEnd();
    return true;
  }
}
