import type { LockClient, Ownership } from '@queuelock/core';
import { checkedOptions } from '@queuelock/core/backend';
import { WAIT_OPTIONS, type WaitOptions } from './wait-limit.ts';

/** A barrier that one client closes and for which all clients wait; made by `barrier`. */
export interface Barrier {
  readonly name: string;
  /**
   * Closes the barrier. From the moment at which the server has stored the entry, `pass` waits. Resolves when
   * all clients whose `pass` was in the queue before have passed. Only one client closes the barrier at a
   * time. A second `close` waits until the first client has opened it, and until each `pass` that joined the
   * queue before it has passed. Open the barrier with `release()` or `await using`.
   * @returns the ownership that keeps the barrier closed. When its `signal` aborts, the barrier has opened
   *   without a release
   * @throws {QueueLockError} like `LockClient.acquire`
   */
  close(options?: WaitOptions): Promise<Ownership>;
  /**
   * Waits until the barrier is open.
   * @throws {QueueLockError} like `LockClient.acquire`; `TIMEOUT` for a `timeoutMs` of 0 if the barrier is closed
   */
  pass(options?: WaitOptions): Promise<void>;
}

/**
 * Returns a barrier: one client closes it, all clients wait for it, and they continue together when it opens. Closing is an exclusive claim of the
 * name. Passing is a shared claim that is released at once. So each waiter is admitted by one event, and its only further write is the removal of its
 * own entry. An open barrier stores nothing on the server.
 *
 * The barrier opens when it is released. It also opens when the client that closed it dies, after the TTL of that client at the latest. So no crash
 * blocks the other clients for ever. Curator's `DistributedBarrier` and kazoo's `Barrier` are persistent: they stay closed until a client removes
 * their node. If a barrier must not open before some work is done, use a `latch` instead.
 *
 * Not promised: that the barrier is still open when `pass` resolves. A new `close` waits only for clients whose entries are in the queue.
 *
 * It follows the barrier of the ZooKeeper recipes, https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_eventHandles
 * @throws {QueueLockError} the methods reject with `INVALID_ARGUMENT` for a name that the backend cannot hold
 * @example
 * const migration = barrier(client, 'migration');
 * {
 *   await using closed = await migration.close();
 *   await migrate({ signal: closed.signal });
 * }
 * await migration.pass(); // in other processes: waits while the barrier is closed
 */
export function barrier(client: LockClient, name: string): Barrier {
  return {
    name,
    close: async (options) => client.acquire(name, checkedOptions('options of close', options, WAIT_OPTIONS)),
    async pass(options) {
      const wait = checkedOptions('options of pass', options, WAIT_OPTIONS);
      const entry = await client.acquire(name, { ...wait, mode: 'shared' });
      // Does not wait for the release of the entry: the caller has passed, and the client makes sure that the
      // entry is removed.
      void entry.release();
    },
  };
}
