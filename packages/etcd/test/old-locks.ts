import { Etcd3, EtcdLockFailedError, type Lock } from 'etcd3';
import { Clients } from './clients.ts';

/** Clients that know no queue, each lock of npm etcd3 with the real thing. */
export class OldClient {
  readonly etcd: Etcd3;
  readonly #leases: { revoke(): Promise<void> }[] = [];

  constructor(endpoint: string) {
    this.etcd = new Etcd3({ hosts: endpoint });
  }

  /** npm etcd3's `Lock`, which tries once: `undefined` when somebody has the key. */
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

  /** As its users do who want to wait: again and again. */
  async lock(key: string): Promise<Lock> {
    for (;;) {
      const lock = await this.tryLock(key);
      if (lock) return lock;
    }
  }

  /** What python-etcd3 and etcd3gw do: a value of their own, by which they know their lock when they delete it. */
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

  /** With all that it still holds; else its heartbeats would go on for some time. */
  async close(): Promise<void> {
    await Promise.all(this.#leases.map((lease) => lease.revoke().catch(() => undefined)));
    this.etcd.close();
  }
}

/** Old clients that `close` closes along with the others. */
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

/** The migration's usual rule: the old clients lock the queue's name itself. */
export const ownName = (queue: string): string => queue;
