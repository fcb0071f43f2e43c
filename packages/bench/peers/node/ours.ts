import { createLockClient, type Backend, type LockClient } from '@queuelock/core';
import { etcd, type Naming } from '@queuelock/etcd';
import { zookeeper, type ZooKeeperOptions } from '@queuelock/zookeeper';
import type { Contender, Lock, Release } from './contender.ts';
import { endpointOf } from './protocol.ts';
import { untilWatchingEtcd, untilWatchingZooKeeper } from './quiet.ts';
import { leaseRevocation } from './raw-etcd.ts';
import { closeSession } from './raw-zookeeper.ts';
import { SESSION_MS } from './session.ts';
import type { Transport } from './transport.ts';

/** Methods of queuelock beyond those that all measured libraries have. */
export interface OwnLock extends Lock {
  untilWatching(waiters: number): Promise<void>;
  open(ttlMs?: number): Promise<OwnContender>;
}

export interface OwnContender extends Contender {
  /** Acquires the locks of all names in one step. */
  acquireAll(names: readonly string[]): Promise<Release>;
  /**
   * Prepares the end of the session: opens another connection, for instance. Resolves with a function that
   * ends the session over that connection, so that all holds end in one change of the store. The function
   * resolves when the server has responded.
   */
  revocation(): Promise<() => Promise<unknown>>;
}

export function oursOverEtcd(transport: Transport, naming: Naming = 'go'): OwnLock {
  const endpoint = endpointOf('ETCD');
  return {
    open: (ttlMs) =>
      open(etcd({ hosts: [endpoint], transport, naming }), ttlMs, async (client) => {
        const { lease } = JSON.parse(await client.exportSession()) as { lease: string };
        return leaseRevocation(BigInt(`0x${lease}`).toString(), transport);
      }),
    untilWatching: (waiters) => untilWatchingEtcd(endpoint, waiters),
  };
}

export function oursOverZooKeeper(transport: NonNullable<ZooKeeperOptions['transport']>): OwnLock {
  const endpoint = endpointOf('ZK');
  return {
    open: (ttlMs) =>
      open(zookeeper({ hosts: [endpoint], transport }), ttlMs, async (client) => {
        const secret = JSON.parse(await client.exportSession()) as { session: string; password: string };
        await client.abandon();
        return closeSession(secret);
      }),
    untilWatching: (waiters) => untilWatchingZooKeeper(endpoint, waiters),
  };
}

type Revocation = (client: LockClient) => Promise<() => Promise<unknown>>;

async function open(
  backend: Backend,
  ttlMs: number | undefined,
  revocation: Revocation,
): Promise<OwnContender> {
  const client = createLockClient(backend, { ttlMs: ttlMs ?? SESSION_MS });
  // Acquires a lock once, which opens the client's session before the measurement.
  await (await client.acquire('warm/connected')).release();
  return {
    async acquire(name) {
      const ownership = await client.acquire(name);
      return () => ownership.release();
    },
    async acquireAll(names) {
      const ownership = await client.multi(names).acquire();
      return () => ownership.release();
    },
    revocation: () => revocation(client),
    close: () => client.close(),
  };
}
