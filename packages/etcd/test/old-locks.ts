import { Etcd3, EtcdLockFailedError, type Lock } from 'etcd3';
import { Clients } from './clients.ts';

/** A client of another library, which locks a single key instead of a queue. For the locks of npm etcd3 it uses that package itself. */
export class OldClient {
  readonly etcd: Etcd3;
  readonly #leases: { revoke(): Promise<void> }[] = [];

  constructor(endpoint: string) {
    this.etcd = new Etcd3({ hosts: endpoint });
  }

  /** Tries once to acquire npm etcd3's `Lock`; resolves with `undefined` when another client has the key. */
  async tryLock(key: string, ttlSeconds = 10): Promise<Lock | undefined> {
    try {
      const lock = await this.etcd.lock(key).ttl(ttlSeconds).acquire();
      this.#leases.push({ revoke: () => lock.release() });
      return lock;
    } catch (error) {
      if (error instanceof EtcdLockFailedError) return undefined;
      throw error;
    }
  }

  /** Tries repeatedly, as users of npm etcd3 do in order to wait. */
  async lock(key: string): Promise<Lock> {
    for (;;) {
      const lock = await this.tryLock(key);
      if (lock) return lock;
    }
  }

  /** Locks as python-etcd3 and etcd3gw do: with a value of its own, by which a client recognizes its lock when it deletes it. */
  async tryLockByValue(key: string, value: string): Promise<boolean> {
    const lease = this.etcd.lease(10);
    this.#leases.push(lease);
    const { succeeded } = await this.etcd
      .if(key, 'Create', '==', 0)
      .then(lease.put(key).value(value))
      .else(this.etcd.get(key))
      .commit();
    return succeeded;
  }

  async unlockByValue(key: string, value: string): Promise<boolean> {
    const { succeeded } = await this.etcd
      .if(key, 'Value', '==', value)
      .then(this.etcd.delete().key(key))
      .commit();
    return succeeded;
  }

  /** Releases every lock that this client still holds, since its heartbeats would continue otherwise. */
  async close(): Promise<void> {
    await Promise.all(this.#leases.map((lease) => lease.revoke().catch(() => undefined)));
    this.etcd.close();
  }
}

/** Clients of this package together with clients without queues. `close` closes both. */
export class MixedClients extends Clients {
  readonly #old: OldClient[] = [];

  old(endpoint: string): OldClient {
    const client = new OldClient(endpoint);
    this.#old.push(client);
    return client;
  }

  override async close(): Promise<void> {
    await super.close();
    await Promise.all(this.#old.splice(0).map((client) => client.close()));
  }
}

/** The usual rule for a migration: the old clients lock the queue's name itself. */
export const ownName = (queue: string): string => queue;
