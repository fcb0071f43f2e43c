import type { Limits } from './limits/limits.ts';
import type { ClientId } from './limits/quota.ts';
import type { Settings } from './options.ts';
import { toWireError } from './refusal.ts';
import type { ServerTime } from './server-time.ts';
import type { Feed } from './stream/feed.ts';
import { Feeds } from './stream/feeds.ts';
import { Outlet } from './stream/outlet.ts';
import type { Topics } from './topics.ts';
import { WIRE_VERSION, topicKey } from './wire.ts';
import type { Hello, Joined, RefusedEvent, Topic, Wanted } from './wire.ts';

/** What streams are made with. */
export interface StreamsTools {
  readonly settings: Settings;
  readonly limits: Limits;
  readonly time: ServerTime;
  readonly topics: Topics;
  readonly epoch: string;
}

/** A topic that is asked for; `refusal`: and not allowed. */
export type Order = Wanted & { readonly refusal?: Error };

/** What a stream is asked for. */
export interface StreamOrder {
  readonly topics: readonly Order[];
  readonly client: ClientId;
  /** All or nothing. */
  readonly isStrict?: boolean;
  /** Told before everything else: what the stream was made for. */
  readonly joined?: Joined;
}

// A page that holds has to be heard within its grace, also when one of two is lost.
const BEATS_IN_GRACE = 2.5;
// Long enough for a page to come back with other topics beside this one.
const FEED_LINGER_MS = 5_000;

/** The open streams, and the feeds that they read. */
export class Streams {
  readonly #tools: StreamsTools;
  readonly #feeds: Feeds;
  readonly #outlets = new Set<Outlet>();
  #version = 0;

  constructor(tools: StreamsTools) {
    this.#tools = tools;
    const { clock, times } = tools.settings;
    const { epoch } = tools;
    this.#feeds = new Feeds({
      clock,
      epoch,
      paceMs: times.paceMs,
      lingerMs: Math.min(times.lingerMs, FEED_LINGER_MS),
      nextVersion: () => (this.#version += 1),
      open: (topic) => tools.topics.open(topic),
    });
  }

  /**
   * A topic that cannot be told is told to be refused, unless the order is `strict`.
   * @throws {QueueLockError} when there are too many streams.
   */
  open(order: StreamOrder): ReadableStream<Uint8Array> {
    const release = this.#tools.limits.streams.take(order.client);
    const reads: (readonly [Topic, Feed])[] = [];
    const outlet = this.#outlet(order, () => {
      release();
      this.#outlets.delete(outlet);
      for (const [topic, feed] of reads) this.#feeds.unread(topic, feed, outlet.news);
    });
    this.#outlets.add(outlet);
    for (const wanted of order.topics) {
      try {
        reads.push([wanted.topic, this.#read(wanted, outlet)]);
      } catch (error) {
        if (order.isStrict) outlet.close();
        if (order.isStrict) throw error;
        outlet.say(refusedEvent(wanted.topic, error));
      }
    }
    return outlet.stream;
  }

  close(): void {
    for (const outlet of this.#outlets) outlet.close();
    this.#feeds.close();
  }

  #read({ topic, since, refusal }: Order, { news }: Outlet): Feed {
    if (refusal) throw refusal;
    const feed = this.#feeds.read(topic, news);
    if (feed.version > this.#knownVersion(since)) news(feed);
    return feed;
  }

  #outlet({ topics, joined }: StreamOrder, onEnd: () => void): Outlet {
    const { settings, time, epoch } = this.#tools;
    const { clock, times } = settings;
    const inTimeMs = times.graceMs / BEATS_IN_GRACE;
    const hasJoin = topics.some(({ topic }) => topic.kind === 'join');
    const heartbeatMs = hasJoin ? Math.min(times.heartbeatMs, inTimeMs) : times.heartbeatMs;
    const hello = { version: WIRE_VERSION, epoch, now: time.now(), heartbeatMs } satisfies Hello;
    const outlet = new Outlet({ clock, heartbeatMs, stuckMs: times.stuckMs, onEnd });
    outlet.say(`retry: 1000\n${eventOf('hello', hello)}`);
    if (joined) outlet.say(eventOf('joined', joined));
    return outlet;
  }

  /** Of an event's id, if it is one of ours. */
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
