import type { Limits } from './limits/limits.ts';
import type { ClientId } from './limits/quota.ts';
import type { Settings } from './options.ts';
import { toWireError } from './refusal.ts';
import type { ServerTime } from './server-time.ts';
import { BytesInFlight } from './limits/bytes-in-flight.ts';
import { Encoder } from './stream/encoder.ts';
import { Feeds, type Reading } from './stream/feeds.ts';
import { SseConnection } from './stream/sse-connection.ts';
import type { Topics } from './topics.ts';
import { WIRE_VERSION, topicKey } from './wire.ts';
import type { Hello, JoinResponse, RefusedEvent, Topic, RequestedTopic } from './wire.ts';

/** The parts of a bridge that `Streams` uses. */
export interface StreamsTools {
  readonly settings: Settings;
  readonly limits: Limits;
  readonly time: ServerTime;
  readonly topics: Topics;
  readonly epoch: string;
}

/** A topic that a client requested. `refusal` is the reason if it was not allowed. */
export type Order = RequestedTopic & { readonly refusal?: Error };

/** A client's request for a stream of snapshots of several topics. */
export interface StreamOrder {
  readonly topics: readonly Order[];
  readonly client: ClientId;
  /** Whether the whole request for a stream fails if any of its topics is refused. */
  readonly isStrict?: boolean;
  /** Key and grace of the join for which the stream was opened. They are sent before all snapshots. */
  readonly joined?: JoinResponse;
}

// Number of heartbeats within the grace of a page that holds. Even if every second heartbeat is lost, the
// page receives one within the grace.
const HEARTBEATS_IN_GRACE = 2.5;
// Time in milliseconds for which a feed without subscribers stays open. A page that reopens its stream with
// other topics needs less.
const FEED_LINGER_MS = 5_000;

/** The open streams, and the feeds that they read. */
export class Streams {
  readonly #tools: StreamsTools;
  readonly #feeds: Feeds;
  readonly #encoder: Encoder;
  readonly #inFlight: BytesInFlight;
  readonly #connections = new Set<SseConnection>();
  #version = 0;

  constructor(tools: StreamsTools) {
    this.#tools = tools;
    const { clock, times, limits } = tools.settings;
    const { epoch } = tools;
    this.#encoder = new Encoder({ clock, cachedBytes: limits.bytes });
    this.#inFlight = new BytesInFlight({ perClient: limits.perClient.bytes, perBridge: limits.bytes });
    this.#feeds = new Feeds({
      clock,
      limits: tools.limits,
      epoch,
      paceMs: times.paceMs,
      lingerMs: Math.min(times.lingerMs, FEED_LINGER_MS),
      nextVersion: () => (this.#version += 1),
      open: (topic) => tools.topics.open(topic),
    });
  }

  /**
   * Opens a stream. A topic that is refused is reported in the stream, unless `isStrict` is set.
   * @throws {QueueLockError} when there are too many streams, or when `isStrict` is set and a topic is refused.
   */
  open(order: StreamOrder): ReadableStream<Uint8Array> {
    const release = this.#tools.limits.streams.take(order.client);
    const readings: Reading[] = [];
    const connection = this.#connection(order, () => {
      release();
      this.#connections.delete(connection);
      for (const reading of readings) reading.close();
    });
    this.#connections.add(connection);
    for (const topic of order.topics) {
      try {
        readings.push(this.#read(topic, connection, order.client));
      } catch (error) {
        if (order.isStrict) connection.close();
        if (order.isStrict) throw error;
        connection.sendText(refusedEvent(topic.topic, error));
      }
    }
    return connection.stream;
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
    this.#feeds.close();
    this.#encoder.close();
  }

  #read({ topic, since, refusal }: Order, { onSnapshot }: SseConnection, client: ClientId): Reading {
    if (refusal) throw refusal;
    const reading = this.#feeds.read(topic, { listener: onSnapshot, client });
    if (reading.feed.version > this.#knownVersion(since)) onSnapshot(reading.feed);
    return reading;
  }

  #connection({ topics, joined, client }: StreamOrder, onEnd: () => void): SseConnection {
    const { settings, time, epoch } = this.#tools;
    const { clock, times } = settings;
    const inTimeMs = times.graceMs / HEARTBEATS_IN_GRACE;
    const hasJoin = topics.some(({ topic }) => topic.kind === 'join');
    const heartbeatMs = hasJoin ? Math.min(times.heartbeatMs, inTimeMs) : times.heartbeatMs;
    const hello = { version: WIRE_VERSION, epoch, now: time.now(), heartbeatMs } satisfies Hello;
    const [encoder, inFlight] = [this.#encoder, this.#inFlight];
    const { stuckMs } = times;
    const connection = new SseConnection({ clock, heartbeatMs, stuckMs, client, encoder, inFlight, onEnd });
    connection.sendText(`retry: 1000\n${eventOf('hello', hello)}`);
    if (joined) connection.sendText(eventOf('joined', joined));
    return connection;
  }

  /**
   * Returns the version number in the id of an event that this run of the bridge has sent, or 0 for any other
   * id.
   */
  #knownVersion(id: string | undefined): number {
    const [epoch, version] = id?.split('.') ?? [];
    return epoch === this.#tools.epoch && /^\d{1,15}$/.test(version ?? '') ? Number(version) : 0;
  }
}

function refusedEvent(topic: Topic, error: unknown): string {
  return eventOf('refused', { topic: topicKey(topic), error: toWireError(error) } satisfies RefusedEvent);
}

function eventOf(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
