import type { Backend, Session } from '@queuelock/core/backend';
import { zookeeper, type ZooKeeperOptions } from '@queuelock/zookeeper';
import { zkFourLetter } from '../../../integration/services.ts';
import { until } from '../../../integration/services/until.ts';
import { FarProxies } from './far-proxy.ts';

interface Line {
  readonly endpoint: string;
  readonly server: string;
  /** Settles when no crash of a session is on its way. */
  crashed: Promise<unknown>;
}

/** Backends with a proxy each, so that the sessions of one can be cut off alone. */
export class SeverableBackends {
  readonly #proxies = new FarProxies();
  readonly #lines = new WeakMap<Session, Line>();

  async connect(server: string, options: Omit<ZooKeeperOptions, 'hosts'>): Promise<Backend> {
    const endpoint = await this.#proxies.tell({ order: 'start', endpoint: server });
    const backend = zookeeper({ ...options, hosts: [endpoint] });
    const line: Line = { endpoint, server, crashed: Promise.resolve() };
    return {
      info: backend.info,
      checkName: (queue) => backend.checkName(queue),
      observe: (queue) => backend.observe(queue),
      open: async (ttlMs, signal) => {
        const session = await backend.open(ttlMs, signal);
        this.#lines.set(session, line);
        return session;
      },
      close: async () => {
        await line.crashed;
        await backend.close();
        await this.#proxies.tell({ order: 'sever', endpoint });
      },
    } satisfies Backend;
  }

  /**
   * Cuts a session off: the C client would keep it alive by itself. Once the server has expired the session the way is
   * free again, since only the server can tell a client that.
   */
  async crash(session: Session): Promise<void> {
    const line = this.#lines.get(session)!;
    const { endpoint, server } = line;
    await this.#proxies.tell({ order: 'sever', endpoint });
    line.crashed = untilExpired(server, session.id).then(() =>
      this.#proxies.tell({ order: 'accept', endpoint }),
    );
  }

  stop(): void {
    this.#proxies.stop();
  }
}

/** Resolves when the server knows of no such session. */
export async function untilExpired(server: string, sessionId: string): Promise<void> {
  const ask = async (): Promise<void> => {
    if ((await zkFourLetter(server, 'dump')).includes(`0x${sessionId}`)) throw new Error('it is still there');
  };
  await until(ask, { what: `session ${sessionId} expires`, withinMs: 60_000 });
}
