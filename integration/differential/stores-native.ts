// The classes that act as a store's operator are imported by path. They are in the tests of other packages,
// and no package exports tests.
/* eslint-disable no-restricted-imports */
import { Operator as ConsulOperator } from '../../packages/consul/test/operator.ts';
import { Operator as EtcdOperator } from '../../packages/etcd/test/operator.ts';
/* eslint-enable no-restricted-imports */
import { consul } from '@queuelock/consul';
import { isQueueLockError, type Backend } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { ZooKeeperWire } from '@queuelock/harness/clusters/zookeeper-wire';
import { startConsul, startEtcd, startZooKeeper } from '@queuelock/harness/services';
import { zookeeper } from '@queuelock/zookeeper';
import { forSure, type Store } from './store.ts';

const TTL_MS = 30_000;
const TICK_MS = 500;
/** The longest session in milliseconds that a ZooKeeper server with a tick of `TICK_MS` grants. */
const TTL_OF_ZOOKEEPER_MS = 20 * TICK_MS;

export async function startConsulStore(): Promise<Store> {
  const server = await startConsul({
    way: 'process',
    settings: { limits: { http_max_conns_per_client: 10_000 } },
  });
  const operator = new ConsulOperator(server.endpoint);
  return {
    name: 'consul',
    ttlMs: TTL_MS,
    connect: () => consul({ hosts: server.endpoint, minTtlMs: 100 }),
    removeEntry: (_queue, { key }) => forSure(() => operator.remove(key)),
    endSession: async (id) => void (await forSure(() => operator.ask('PUT', `/v1/session/destroy/${id}`))),
    stop: () => server.stop(),
  };
}

export async function startEtcdStore(): Promise<Store> {
  const server = await startEtcd({ way: 'process' });
  const operator = new EtcdOperator(server.endpoint);
  return {
    name: 'etcd',
    ttlMs: TTL_MS,
    connect: () => etcd({ hosts: server.endpoint }),
    removeEntry: (_queue, { key }) => operator.remove(key),
    endSession: async (id) => {
      await operator.revoke(id).catch((error: unknown) => {
        // Ignores etcd's error that the session to end has already ended by itself.
        if (!String(error).includes('lease not found')) throw error;
      });
    },
    stop: async () => {
      operator.close();
      await server.stop();
    },
  };
}

export async function startZooKeeperStore(): Promise<Store> {
  const server = await startZooKeeper({ way: 'process', settings: { tickTime: TICK_MS } });
  const connect = (): ReturnType<typeof zookeeper> =>
    zookeeper({ hosts: [server.endpoint], tickTimeMs: TICK_MS, syncLimit: 2 });
  return {
    name: 'zookeeper',
    ttlMs: TTL_OF_ZOOKEEPER_MS,
    connect,
    removeEntry: (_queue, { key }) => ZooKeeperWire.during(server.endpoint, (wire) => wire.delete(key)),
    // ZooKeeper ends a session only for a client that knows its password. So a connection of the operator
    // resumes the session, and then ends it.
    endSession: async (_id, client) => {
      const resumption = await client.exportSession();
      await forSure(() => endResumed(connect(), resumption));
    },
    // A session belongs to one connection, so an operator has to take the session over to end it. Requests
    // that its client sends meanwhile fail, or have no response until the client gives up its connection.
    explained: /UNAVAILABLE/,
    noticedWithinMs: TTL_OF_ZOOKEEPER_MS,
    stop: () => server.stop(),
  };
}

/**
 * Resumes a session and ends it, or does nothing if it has already ended. The session's client may take it
 * back meanwhile. Then this call rejects, and the caller repeats it.
 */
async function endResumed(backend: Backend, resumption: string): Promise<void> {
  try {
    const session = await backend.resume!(resumption, new AbortController().signal);
    await session.close();
  } catch (error) {
    if (!isQueueLockError(error, 'SESSION_LOST')) throw error;
  } finally {
    await backend.close();
  }
}
