import { once } from 'node:events';
import { Redis } from 'ioredis';

/** Simulates an operator who changes the store with other tools than queuelock. */
export class Operator {
  readonly redis: Redis;
  readonly #prefix: string;

  static async connect(endpoint: string, prefix: string): Promise<Operator> {
    const [host = '', port] = endpoint.split(':');
    const redis = new Redis({ host, port: Number(port), lazyConnect: true });
    await redis.connect();
    return new Operator(redis, prefix);
  }

  private constructor(redis: Redis, prefix: string) {
    this.redis = redis;
    this.#prefix = prefix;
  }

  /** Removes an entry from its queue by hand, and makes all clients read their entries again. */
  async evict(key: string): Promise<void> {
    const slash = key.lastIndexOf('/');
    await this.redis.zrem(key.slice(0, slash), key.slice(slash + 1));
    await this.redis.publish(`{${this.#prefix}}:look`, '');
  }

  /** Returns the keys of a queue's entries. */
  async entries(queue: string): Promise<readonly string[]> {
    const keys = ['line', 'exclusive', 'waiting', 'entries'].map((kind) => this.key(`${kind}:${queue}`));
    const there = await Promise.all(keys.map(async (key) => ((await this.redis.exists(key)) ? [key] : [])));
    return there.flat();
  }

  key(name: string): string {
    return `{${this.#prefix}}:${name}`;
  }

  async close(): Promise<void> {
    if (this.redis.status === 'end') return;
    const closed = once(this.redis, 'end');
    this.redis.disconnect();
    await closed;
  }
}
