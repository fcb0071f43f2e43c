import { topicKey, type Topic } from '../wire.ts';
import { Feed, type FeedTools, type NewsOf, type TopicSource } from './feed.ts';

/** What feeds are opened with. */
export interface FeedsTools extends FeedTools {
  readonly open: (topic: Topic) => TopicSource;
  /** How long a feed goes on that nobody reads any more. */
  readonly lingerMs: number;
}

/** The feeds that somebody reads: one for each topic, however many read it. */
export class Feeds {
  readonly #tools: FeedsTools;
  readonly #feeds = new Map<string, Feed>();
  readonly #lingering = new Map<Feed, () => void>();

  constructor(tools: FeedsTools) {
    this.#tools = tools;
  }

  /** @throws what the topic's source throws: a limit, a name that the store cannot have, a wrong secret. */
  read(topic: Topic, news: NewsOf): Feed {
    const feed = this.#feeds.get(topicKey(topic)) ?? this.#begin(topic);
    this.#stay(feed);
    feed.read(news);
    return feed;
  }

  /** A page that opens its stream anew finds the feed where it was. A join's is not shared: each reader is checked for its secret. */
  unread(topic: Topic, feed: Feed, news: NewsOf): void {
    feed.unread(news);
    if (topic.kind === 'join') feed.close();
    else if (!feed.hasReaders) this.#linger(topic, feed);
  }

  close(): void {
    for (const cancel of this.#lingering.values()) cancel();
    for (const feed of this.#feeds.values()) feed.close();
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
