import { Etcd3, EtcdLockFailedError, type Lock } from 'etcd3';
import { Clients } from './clients.ts';

/** A client that locks a single key without a queue, as other libraries for etcd do. For the locks of npm etcd3 it uses npm etcd3 itself. */
export class OldClient {
  readonly etcd: Etcd3;
  readonly #leases: { revoke(): Promise<void> }[] = [];

  constructor(endpoint: string) {
    this.etcd = new Etcd3({ hosts: endpoint });
  }

  /** Calls `acquire` of npm etcd3's `Lock` once. Resolves with `undefined` if another client has the key. */
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

  /** Calls `acquire` of npm etcd3's `Lock` until it succeeds, since npm etcd3 has no other way to wait. */
  async lock(key: string): Promise<Lock> {
    for (;;) {
      const lock = await this.tryLock(key);
      if (lock) return lock;
    }
  }

  /**
   * Locks a key as python-etcd3 and etcd3gw do. The key gets the caller's own value, which the caller compares when it deletes the key.
   */
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

  /** Releases every lock that this client still holds, so that no heartbeats continue. */
  async close(): Promise<void> {
    await Promise.all(this.#leases.map((lease) => lease.revoke().catch(() => undefined)));
    this.etcd.close();
  }
}

/** Clients of this package, and clients without queues. `close` closes all of them. */
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

/** The option `singleKey` as most migrations set it: clients without queues lock the key that equals the queue's name. */
export const ownName = (queue: string): string => queue;
