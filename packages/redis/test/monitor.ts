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

  /**
   * Returns the commands of clients, and the channels on which scripts published, since the previous call of
   * `since`.
   */
  async since(): Promise<{ readonly requested: readonly string[]; readonly published: readonly string[] }> {
    // The server reports commands in the order of their execution. Once it has reported this `echo`, it has
    // reported all earlier commands.
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
