import type { Backend, Session } from '@queuelock/core/backend';
import { zookeeper, type ZooKeeperOptions } from '@queuelock/zookeeper';
import { zkFourLetter } from '@queuelock/harness/services/four-letter';
import { until } from '@queuelock/harness/services/until';
import { FarProxies, type ProxyOrder } from './far-proxy.ts';

/** Controls proxies that run in another process. */
interface Proxies {
  send(order: ProxyOrder): Promise<string>;
  stop(): void;
}

interface ProxiedConnection {
  readonly endpoint: string;
  readonly server: string;
  /** Settles when all crashes of sessions that were requested are complete. */
  crashed: Promise<unknown>;
}

/** Creates backends that each connect through a proxy, so that a test can cut off the sessions of one backend. */
export class SeverableBackends {
  readonly #proxies: Proxies;
  readonly #connections = new WeakMap<Session, ProxiedConnection>();
  /** Sessions that `crash` has cut off and that have not expired yet. */
  readonly #crashed = new Map<string, Session>();

  constructor(proxies: Proxies = new FarProxies()) {
    this.#proxies = proxies;
  }

  async connect(server: string, options: Omit<ZooKeeperOptions, 'hosts'>): Promise<Backend> {
    const endpoint = await this.#proxies.send({ order: 'start', endpoint: server });
    const backend = zookeeper({ ...options, hosts: [endpoint] });
    const connection: ProxiedConnection = { endpoint, server, crashed: Promise.resolve() };
    const { registers } = backend;
    const onLine = async (opening: Promise<Session>): Promise<Session> => {
      const session = await opening;
      this.#connections.set(session, connection);
      return session;
    };
    return {
      info: backend.info,
      ...(registers ? { registers } : {}),
      checkName: (queue) => backend.checkName(queue),
      observe: (queue) => backend.observe(queue),
      evict: (queue, entry) => backend.evict!(queue, entry),
      queues(prefix) {
        return backend.queues!(prefix);
      },
      open: (ttlMs, signal) => onLine(backend.open(ttlMs, signal)),
      resume: async (resumption, signal) => {
        const session = await onLine(backend.resume!(resumption, signal));
        await this.#crashed.get(session.id)?.abandon!();
        this.#crashed.delete(session.id);
        return session;
      },
      close: async () => {
        await connection.crashed;
        await backend.close();
        await this.#proxies.send({ order: 'sever', endpoint });
      },
    } satisfies Backend;
  }

  /**
   * Simulates the crash of a session's process by cutting its connection. Without the cut, the C client in this process would keep the
   * session alive. When the session has expired, the proxy lets the client reconnect, since only the server can report the expiry to it. If
   * another client resumes the session before it expires, the client of the crashed process abandons the session.
   */
  async crash(session: Session): Promise<void> {
    const connection = this.#connections.get(session)!;
    const { endpoint, server } = connection;
    const { id } = session;
    await this.#proxies.send({ order: 'sever', endpoint });
    this.#crashed.set(id, session);
    const isOver = async (): Promise<boolean> => !this.#crashed.has(id) || (await hasExpired(server, id));
    connection.crashed = until(() => orThrow(isOver), {
      what: `session ${id} is over`,
      withinMs: 60_000,
    }).then(() => {
      this.#crashed.delete(id);
      return this.#proxies.send({ order: 'accept', endpoint });
    });
  }

  stop(): void {
    this.#proxies.stop();
  }
}

/** Resolves when the session has expired on the server. */
export async function untilExpired(server: string, sessionId: string): Promise<void> {
  const what = `session ${sessionId} expires`;
  await until(() => orThrow(() => hasExpired(server, sessionId)), { what, withinMs: 60_000 });
}

async function hasExpired(server: string, sessionId: string): Promise<boolean> {
  return !(await zkFourLetter(server, 'dump')).includes(`0x${sessionId}`);
}

async function orThrow(holds: () => Promise<boolean>): Promise<void> {
  if (!(await holds())) throw new Error('not yet');
}
