import type { Backend, Session } from '@queuelock/core/backend';
import { signal } from '@queuelock/harness/specs';
import { redis, type RedisOptions } from '@queuelock/redis';
import { startRedis } from '@queuelock/harness/services';
import type { RedisSettings } from '@queuelock/harness/services/redis-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Operator } from './operator.ts';

const PREFIX = 'queuelock';

/**
 * Opens sessions on a server that only this suite uses. The constructor registers hooks that start and stop
 * the server.
 */
export class Clients {
  server!: ProcessService;
  operator!: Operator;
  readonly #backends: Backend[] = [];
  readonly #sessions: Session[] = [];

  constructor(settings: RedisSettings = {}) {
    before(async () => {
      this.server = await startRedis({ way: 'process', settings });
      this.operator = await Operator.connect(this.server.endpoint, PREFIX);
    });
    afterEach(async () => {
      await Promise.all(this.#sessions.splice(0).map((session) => session.close()));
      await Promise.all(this.#backends.splice(0).map((backend) => backend.close()));
    });
    after(async () => {
      await this.operator.close();
      await this.server.stop();
    });
  }

  connect(options: RedisOptions = {}): Backend {
    const url = options.client ? {} : { url: `redis://${this.server.endpoint}` };
    const backend = redis({ ...url, ...options });
    this.#backends.push(backend);
    return backend;
  }

  async session(backend: Backend = this.connect(), ttlMs = 30_000): Promise<Session> {
    const session = await backend.open(ttlMs, signal);
    this.#sessions.push(session);
    return session;
  }

  /** Deletes everything that earlier tests have left on the server. */
  async empty(): Promise<void> {
    await this.operator.redis.flushall();
  }
}
