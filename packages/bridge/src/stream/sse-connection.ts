import type { Clock } from '@queuelock/core';
import type { BytesInFlight } from '../limits/bytes-in-flight.ts';
import type { ClientId } from '../limits/quota.ts';
import type { Encoder } from './encoder.ts';
import type { Feed } from './feed.ts';

/** The settings of a stream, and the parts of a bridge that it uses. */
export interface SseConnectionSettings {
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly stuckMs: number;
  readonly client: ClientId;
  readonly encoder: Pick<Encoder, 'schedule'>;
  readonly inFlight: Pick<BytesInFlight, 'take' | 'forget'>;
  /** Called once when the stream has ended for any reason. */
  readonly onEnd: () => void;
}

const HEARTBEAT = Buffer.from(':\n\n');

/**
 * One client's stream. For each topic it stores only whether there is a newer snapshot; the snapshot is in a
 * feed that all clients share. The next snapshot is taken when the client has read the previous one. So a
 * slow client costs the memory of one snapshot, and receives the latest one next.
 */
export class SseConnection {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #settings: SseConnectionSettings;
  readonly #pending = new Set<Feed>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isWanted = false;
  #hasEnded = false;
  #sentAt: number;
  /** Texts that are sent before the next snapshot, such as the refusals of topics. */
  readonly #texts: Uint8Array[] = [];
  #cancelHeartbeat: () => void;
  /** Called when the client has read the snapshot that was sent last on this stream. */
  #onRead: (() => void) | undefined;

  readonly #send = (): void => {
    if (!this.#isWanted) return;
    try {
      const chunk = this.#texts.length > 0 ? Buffer.concat(this.#texts.splice(0)) : this.#nextSnapshot();
      if (chunk) this.#enqueue(chunk);
    } catch (error) {
      // If a snapshot cannot be encoded, the stream fails, and the client retries.
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
    this.#cancelHeartbeat = this.#scheduleHeartbeat();
  }

  /** Sends a text on the stream before the next snapshot, for instance the refusal of a topic. */
  sendText(text: string): void {
    this.#texts.push(Buffer.from(text));
  }

  /** Marks the topic of a feed as having a snapshot that the client has not received. */
  readonly onSnapshot = (feed: Feed): void => {
    if (this.#hasEnded) return;
    this.#pending.add(feed);
    this.#send();
  };

  /** Ends the stream on the bridge, and the response that the page reads. */
  close(): void {
    if (this.#end()) this.#controller?.close();
  }

  /**
   * Returns the next snapshot to send, or `undefined` when none is ready. In that case this stream is
   * notified when the snapshot is encoded, or when the limit of bytes in flight permits it.
   */
  #nextSnapshot(): Uint8Array | undefined {
    const { client, encoder, inFlight } = this.#settings;
    // Sends the oldest pending snapshot first. So a client that has received an event has also received every
    // older one.
    let oldest: Feed | undefined;
    for (const feed of this.#pending) if (!oldest || feed.version < oldest.version) oldest = feed;
    if (!oldest) return undefined;
    const { event } = oldest;
    if (!event) {
      encoder.schedule(oldest, client);
      return undefined;
    }
    const onRead = inFlight.take(event, client, this.#send);
    if (!onRead) return undefined;
    this.#onRead = onRead;
    this.#pending.delete(oldest);
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

  #scheduleHeartbeat(): () => void {
    const { clock, heartbeatMs } = this.#settings;
    return clock.after(heartbeatMs, () => {
      this.#cancelHeartbeat = this.#scheduleHeartbeat();
      this.#sendHeartbeat();
    });
  }

  #sendHeartbeat(): void {
    const { clock, stuckMs } = this.#settings;
    if (this.#isWanted) this.#enqueue(HEARTBEAT);
    else if (clock.now() - this.#sentAt >= stuckMs && this.#end())
      this.#controller?.error(new Error(`the client read nothing for ${String(stuckMs)} ms (times.stuckMs)`));
  }

  /** Ends the stream. Returns whether it was still open. */
  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#isWanted = false;
    this.#cancelHeartbeat();
    this.#pending.clear();
    this.#settings.inFlight.forget(this.#send);
    this.#readAll();
    this.#settings.onEnd();
    return true;
  }
}
