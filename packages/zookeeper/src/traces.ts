import { QueueLockError, type HoldTraces } from '@queuelock/core/backend';
import type { ZkDriver } from './driver.ts';
import type { OwnEntry } from './entry.ts';
import { parseContender, queuePath, traceDirectory } from './names.ts';

/** A persistent node for each hold, named as its entry; see `HoldTraces`. */
export class Traces implements HoldTraces {
  readonly #zk: ZkDriver;
  readonly #root: string;
  readonly #entryOf: (queue: string, id: string) => OwnEntry | undefined;

  constructor(
    zk: ZkDriver,
    {
      root,
      entryOf,
    }: { readonly root: string; readonly entryOf: (queue: string, id: string) => OwnEntry | undefined },
  ) {
    this.#zk = zk;
    this.#root = root;
    this.#entryOf = entryOf;
  }

  async leave(queue: string, id: string): Promise<readonly string[]> {
    const directory = traceDirectory(this.#root, queue);
    const own = await this.#entryOf(queue, id)?.leaveTrace({ root: this.#root, directory });
    if (own === undefined) {
      throw new QueueLockError(
        'ENTRY_LOST',
        `the entry is not in the queue ${JSON.stringify(queue)} any more`,
      );
    }
    const names = (await this.#zk.children(directory)) ?? [];
    // The others are directories of nested names.
    const others = names.filter((name) => name !== own && parseContender(name));
    const stats = await Promise.all(
      others.map((name) => this.#zk.stat(`${queuePath(this.#root, queue)}/${name}`)),
    );
    return others.filter((_, i) => stats[i] === undefined);
  }

  async erase(queue: string, traces: readonly string[]): Promise<void> {
    const directory = traceDirectory(this.#root, queue);
    await Promise.all(traces.map((name) => this.#zk.delete(`${directory}/${name}`)));
  }
}
