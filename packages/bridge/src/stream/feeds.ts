import type { Limits } from '../limits/limits.ts';
import type { ClientId, Quota } from '../limits/quota.ts';
import { topicKey, type Topic } from '../wire.ts';
import { Feed, type FeedTools, type FeedListener, type TopicSource } from './feed.ts';

/** The settings of `Feeds`. */
export interface FeedsTools extends FeedTools {
  readonly open: (topic: Topic) => TopicSource;
  readonly limits: Pick<Limits, 'topics' | 'overviews' | 'queues'>;
  /**
   * Time in milliseconds for which a feed without subscribers stays open. During that time it still counts
   * against the limits of its last subscribers.
   */
  readonly lingerMs: number;
}

/** A subscriber to a feed, and the client that it belongs to. */
export interface FeedReader {
  readonly listener: FeedListener;
  readonly client: ClientId;
}

/** The use of a feed by one subscriber, until it calls `close`. */
export interface Reading {
  readonly feed: Feed;
  readonly close: () => void;
}

/** The open feeds: one for each topic, shared by its subscribers. */
export class Feeds {
  readonly #tools: FeedsTools;
  readonly #feeds = new Map<string, Feed>();
  readonly #lingering = new Map<Feed, () => void>();
  /** For each topic that a client has dropped, the function that stops counting it against the limits. */
  readonly #counted = new Set<() => void>();

  constructor(tools: FeedsTools) {
    this.#tools = tools;
  }

  /**
   * Adds a subscriber to the feed of a topic.
   * @throws the error of the topic's source, because of a limit, a name that the store cannot represent, or a
   *   wrong secret of a join
   */
  read(topic: Topic, { listener, client }: FeedReader): Reading {
    const release = this.#count(topic, client);
    let feed: Feed;
    try {
      feed = this.#feeds.get(topicKey(topic)) ?? this.#begin(topic);
    } catch (error) {
      release();
      throw error;
    }
    this.#stay(feed);
    feed.read(listener);
    return { feed, close: () => this.#unread(topic, feed, { listener, release }) };
  }

  close(): void {
    for (const cancel of [...this.#lingering.values(), ...this.#counted]) cancel();
    for (const feed of this.#feeds.values()) feed.close();
  }

  /**
   * Removes a subscriber from a feed. A feed without subscribers stays open for a while, because its page may
   * reopen the stream. The feed of a join is closed at once: each subscriber has its own, because opening it
   * checks the secret of the join.
   */
  #unread(
    topic: Topic,
    feed: Feed,
    { listener, release }: Pick<FeedReader, 'listener'> & { readonly release: () => void },
  ): void {
    feed.unread(listener);
    if (topic.kind === 'join') {
      feed.close();
      release();
      return;
    }
    this.#releaseLater(release);
    if (!feed.hasReaders) this.#linger(topic, feed);
  }

  /**
   * Releases the quota of a dropped topic after a delay, because its feed stays open for that time. So a
   * client that constantly changes its topics cannot have more feeds open than its limit of topics.
   */
  #releaseLater(release: () => void): void {
    const { clock, lingerMs } = this.#tools;
    const cancel = clock.after(lingerMs, () => {
      this.#counted.delete(cancel);
      release();
    });
    this.#counted.add(cancel);
  }

  #count(topic: Topic, client: ClientId): () => void {
    const taken: (() => void)[] = [];
    const release = (): void => {
      for (const give of taken) give();
    };
    try {
      for (const [quota, key] of quotasOf(topic, this.#tools.limits)) taken.push(quota.take(client, key));
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  #begin(topic: Topic): Feed {
    const feed = new Feed(topic, this.#tools.open(topic), this.#tools);
    if (topic.kind !== 'join') this.#feeds.set(topicKey(topic), feed);
    return feed;
  }

  #linger(topic: Topic, feed: Feed): void {
    const { clock, lingerMs } = this.#tools;
    const cancel = clock.after(lingerMs, () => {
      this.#lingering.delete(feed);
      this.#feeds.delete(topicKey(topic));
      feed.close();
    });
    this.#lingering.set(feed, cancel);
  }

  #stay(feed: Feed): void {
    this.#lingering.get(feed)?.();
    this.#lingering.delete(feed);
  }
}

/** Returns the quotas by which a topic is limited. */
function quotasOf(
  topic: Topic,
  { topics, overviews, queues }: FeedsTools['limits'],
): readonly (readonly [Quota, string])[] {
  const every = [topics, topicKey(topic)] as const;
  switch (topic.kind) {
    case 'queues':
    case 'sessions':
    case 'deadlocks':
    case 'faults':
      return [every, [overviews, topicKey(topic)]];
    case 'queue':
    case 'timeline':
    case 'record':
    case 'election':
      return [every, [queues, topic.name]];
    case 'contenders':
    case 'join':
      return [every];
  }
}
