import type { Backend, Placement, Session, Turn } from '@queuelock/core/backend';
import { redis, type RedisOptions } from '@queuelock/redis';
import { startRedis } from '../../../integration/services.ts';
import type { RedisSettings } from '../../../integration/services/redis-process.ts';
import type { ProcessService } from '../../../integration/services/service.ts';
import { Operator } from './operator.ts';

export { refusal, wish } from './wishes.ts';

export const { signal } = new AbortController();
const PREFIX = 'queuelock';

/** Sessions on a server of their own; defines the hooks of the suite that makes it. */
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

  /** Nothing of what the tests before left is there. */
  async empty(): Promise<void> {
    await this.operator.redis.flushall();
  }
}

/** Resolves with the first turn that is admitted; rejects with the loss. */
export function admitted({ turns$ }: Placement): Promise<Turn> {
  return new Promise((resolve, reject) => {
    const following = turns$.subscribe({
      next: (turn) => {
        if (!turn.admitted) return;
        resolve(turn);
        setImmediate(() => following.unsubscribe());
      },
      error: reject,
    });
  });
}

/** Resolves with the code with which an entry is lost. */
export function lost({ turns$ }: Placement): Promise<string> {
  return new Promise((resolve) => {
    turns$.subscribe({ error: (error: unknown) => resolve((error as { readonly code: string }).code) });
  });
}
