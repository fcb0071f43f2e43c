import { AsyncLocalStorage } from 'node:async_hooks';
import { QueueLockError } from './errors.ts';

interface Hold {
  readonly by: HeldNames;
  readonly name: string;
  readonly outer: Hold | undefined;
  active: boolean;
}

// One for all clients: every promise of the process pays for each storage that was ever used, for ever.
const holds = new AsyncLocalStorage<Hold>();

/**
 * Knows which names the running async context holds through `run`. Waiting for one of them there is a certain deadlock: in a
 * fair queue the new entry stands behind the hold that waits for it. A handle from `acquire` may be released from
 * anywhere, so it proves nothing and is not counted.
 */
export class HeldNames {
  /** Runs `work` as a context that holds the name, also for what it starts, until it has ended. */
  async within<T>(name: string, work: () => T | PromiseLike<T>): Promise<Awaited<T>> {
    const hold: Hold = { by: this, name, outer: holds.getStore(), active: true };
    try {
      return await holds.run(hold, work);
    } finally {
      hold.active = false;
    }
  }

  /** @throws {QueueLockError} `REENTRANT` when the running context holds the name. */
  refuse(name: string): void {
    for (let hold = holds.getStore(); hold; hold = hold.outer) {
      if (hold.active && hold.by === this && hold.name === name) {
        throw new QueueLockError(
          'REENTRANT',
          `${JSON.stringify(name)} is held by this very call chain, which would wait for itself for ever; pass the ownership down instead`,
        );
      }
    }
  }
}
