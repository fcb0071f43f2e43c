import { isDefinite } from '@queuelock/core/backend';
import type { Step, ZkDriver } from './driver.ts';

// As many as a multi-lock has at most; a request of so many paths is well below what a server takes.
const MAX_AT_ONCE = 60;

interface Removal {
  readonly path: string;
  readonly resolve: (wasThere: Promise<boolean> | boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Takes nodes out, those that are asked for in one turn of the event loop with one transaction: a multi-lock gives back all that it has
 * at once. A transaction does nothing when one of the nodes is not there, or may not be deleted; then each is deleted by itself.
 */
export class Removals {
  readonly #zk: ZkDriver;
  #asked: Removal[] = [];

  constructor(zk: ZkDriver) {
    this.#zk = zk;
  }

  /** As `ZkDriver.delete`. */
  delete(path: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#asked.length === 0) process.nextTick(() => this.#send());
      this.#asked.push({ path, resolve, reject });
    });
  }

  #send(): void {
    const asked = this.#asked.splice(0);
    for (let at = 0; at < asked.length; at += MAX_AT_ONCE)
      void this.#remove(asked.slice(at, at + MAX_AT_ONCE));
  }

  async #remove(removals: readonly Removal[]): Promise<void> {
    try {
      const isDone = removals.length > 1 && (await this.#removeAtOnce(removals));
      for (const { path, resolve } of removals) resolve(isDone || this.#zk.delete(path));
    } catch (error) {
      for (const { reject } of removals) reject(error);
    }
  }

  /** Whether all were there, and are not any more. Otherwise all is as it was. */
  async #removeAtOnce(removals: readonly Removal[]): Promise<boolean> {
    const steps = removals.map(({ path }): Step => ({ type: 'delete', path }));
    try {
      return (await this.#zk.multi?.(steps))?.done ?? false;
    } catch (error) {
      if (isDefinite(error)) return false;
      throw error;
    }
  }
}
