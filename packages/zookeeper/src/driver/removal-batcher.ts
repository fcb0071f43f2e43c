import { isDefinite } from '@queuelock/core/backend';
import type { Step, ZkDriver } from './driver.ts';

// Maximum number of deletions in one transaction. This is the maximum number of entries of a multi-lock. A
// request of that size is far below a server's limit.
const MAX_BATCH = 60;

interface Removal {
  readonly path: string;
  readonly resolve: (wasThere: Promise<boolean> | boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Deletes nodes. Deletions that are requested in one tick of the event loop are sent as one transaction,
 * because a multi-lock releases all its entries at once. A transaction does nothing if one of the nodes does
 * not exist or must not be deleted. Each node is then deleted separately.
 */
export class RemovalBatcher {
  readonly #zk: ZkDriver;
  #pending: Removal[] = [];

  constructor(zk: ZkDriver) {
    this.#zk = zk;
  }

  /** Deletes a node, as `ZkDriver.delete` does. */
  delete(path: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) process.nextTick(() => this.#send());
      this.#pending.push({ path, resolve, reject });
    });
  }

  #send(): void {
    const pending = this.#pending.splice(0);
    for (let at = 0; at < pending.length; at += MAX_BATCH)
      void this.#remove(pending.slice(at, at + MAX_BATCH));
  }

  async #remove(removals: readonly Removal[]): Promise<void> {
    try {
      const isDone = removals.length > 1 && (await this.#removeInTransaction(removals));
      for (const { path, resolve } of removals) resolve(isDone || this.#zk.delete(path));
    } catch (error) {
      for (const { reject } of removals) reject(error);
    }
  }

  /** Deletes all nodes in one transaction. Resolves with false if nothing was changed. */
  async #removeInTransaction(removals: readonly Removal[]): Promise<boolean> {
    const steps = removals.map(({ path }): Step => ({ type: 'delete', path }));
    try {
      return (await this.#zk.multi?.(steps))?.done ?? false;
    } catch (error) {
      if (isDefinite(error)) return false;
      throw error;
    }
  }
}
