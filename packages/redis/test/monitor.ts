import { once } from 'node:events';
import type { Redis } from 'ioredis';

/** Records the commands that clients send to a server, and the channels on which scripts publish. */
export class Monitor {
  readonly #monitor: Redis;
  readonly #redis: Redis;
  #requested: string[] = [];
  #published: string[] = [];

  static async on(redis: Redis): Promise<Monitor> {
    return new Monitor(redis, await redis.monitor());
  }

  private constructor(redis: Redis, monitor: Redis) {
    this.#redis = redis;
    this.#monitor = monitor;
    monitor.on('monitor', (_time: string, [command = '', ...args]: string[], source: string) => {
      if (source !== 'lua') this.#requested.push(command.toLowerCase());
      else if (command.toLowerCase() === 'publish') this.#published.push(args[0] ?? '');
    });
  }

  /** Returns the commands of clients, and the channels that scripts published on, since the last call. */
  async since(): Promise<{ readonly requested: readonly string[]; readonly published: readonly string[] }> {
    // The server reports commands in their order. When it reports the `echo` below, it has reported all
    // commands before it.
    const reported = once(this.#monitor, 'monitor');
    await this.#redis.echo('end');
    while (!this.#requested.includes('echo'))
      await (this.#requested.length > 0 ? once(this.#monitor, 'monitor') : reported);
    const requested = this.#requested.filter((command) => command !== 'echo');
    const published = this.#published;
    this.#requested = [];
    this.#published = [];
    return { requested, published };
  }

  close(): void {
    this.#monitor.disconnect();
  }
}
