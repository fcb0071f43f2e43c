import { setTimeout as pause } from 'node:timers/promises';
import { Etcd3 } from 'etcd3';
import type { Lock } from './contender.ts';
import { endpointOf } from './protocol.ts';
import { untilWatchingEtcd } from './quiet.ts';
import { SESSION_MS } from './session.ts';

const TTL_S = SESSION_MS / 1_000;

/** npm etcd3's `Lock`: a lease per lock and no queue. It fails if the lock is held. */
export function etcd3Lock(): Lock {
  return {
    async open() {
      const etcd = await connected();
      return {
        async acquire(name) {
          const lock = await etcd.lock(name).ttl(TTL_S).acquire();
          return () => lock.release();
        },
        close: async () => etcd.close(),
      };
    },
  };
}

/** npm etcd3's `Election`: a lease per candidate. */
export function etcd3Election(): Lock {
  const endpoint = endpointOf('ETCD');
  return {
    async open() {
      const etcd = await connected();
      return {
        async acquire(name) {
          const campaign = etcd.election(name, TTL_S).campaign('bench');
          await campaign.wait();
          return () => campaign.resign();
        },
        async close() {
          // Waits before it closes the client. etcd3 closes its watchers only some time after `resign`, and a
          // watcher that is still open when the client closes would fail.
          await pause(100);
          etcd.close();
        },
      };
    },
    untilWatching: (waiters) => untilWatchingEtcd(endpoint, waiters),
  };
}

async function connected(): Promise<Etcd3> {
  const etcd = new Etcd3({ hosts: endpointOf('ETCD') });
  await etcd.get('warm').string();
  return etcd;
}
