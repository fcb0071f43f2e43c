import type { LockClient, Ownership } from '@queuelock/core';
import { checkedOptions } from '@queuelock/core/backend';
import { WAIT_OPTIONS, type WaitOptions } from './patience.ts';

/** A gate that one closes and all wait for; made by `barrier`. */
export interface Barrier {
  readonly name: string;
  /**
   * Closes it: resolves when nobody passes any more. From the moment at which the server has the entry, those who come wait. One closes
   * it at a time: a second one waits until the first has opened it, and those who came between them pass in between.
   * Open it with `release()` or `await using`. When the handle's `signal` aborts it has opened without you. Rejects as `LockClient.acquire`.
   */
  close(options?: WaitOptions): Promise<Ownership>;
  /** Waits until it is open. Rejects as `LockClient.acquire`; a `timeoutMs` of 0 rejects with `TIMEOUT` if it is closed. */
  pass(options?: WaitOptions): Promise<void>;
}

/**
 * A barrier: closed by one, waited for by all, who go on together when it opens. Closing is an exclusive claim of the name, passing a
 * shared one that leaves at once: all who wait are admitted by one event each, and write nothing more than their own leaving.
 * An open barrier costs the server nothing.
 *
 * It opens when it is released, and also when the client that closed it dies, after its TTL at the latest. Curator's
 * `DistributedBarrier` and kazoo's `Barrier` stay closed then, until somebody removes their node: they are persistent. This one is not,
 * so that no crash stops everybody for ever; where it must not open before something is done, wait for a `latch` instead.
 *
 * Not promised: that it is still open when `pass` resolves; a new `close` waits only for those whose entries are there.
 * After the barrier of the ZooKeeper recipes, https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_eventHandles
 * @throws {QueueLockError} the methods, with `INVALID_ARGUMENT` for a name that the backend cannot hold
 */
export function barrier(client: LockClient, name: string): Barrier {
  return {
    name,
    close: async (options) => client.acquire(name, checkedOptions('options of close', options, WAIT_OPTIONS)),
    async pass(options) {
      const wait = checkedOptions('options of pass', options, WAIT_OPTIONS);
      const entry = await client.acquire(name, { ...wait, mode: 'shared' });
      // The way is free now, whether or not the server answers soon: the client sees to it that the entry goes.
      void entry.release();
    },
  };
}
