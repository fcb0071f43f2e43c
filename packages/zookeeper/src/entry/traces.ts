import { QueueLockError, type HoldTraces } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import type { OwnEntry } from './entry.ts';
import { isEntryOf } from '../queue/entries.ts';
import { resemblesEntry } from '../queue/marks.ts';
import { traceDirectory } from '../queue/names.ts';

import { locationOf, type QueueLocations } from '../queue/queue-location.ts';

/** Records each hold as a persistent node with the name of its entry; see `HoldTraces`. */
export class Traces implements HoldTraces {
  readonly #zk: ZkDriver;
  readonly #locations: QueueLocations;
  readonly #entryOf: (queue: string, id: string) => OwnEntry | undefined;

  constructor(
    zk: ZkDriver,
    {
      locations,
      entryOf,
    }: {
      readonly locations: QueueLocations;
      readonly entryOf: (queue: string, id: string) => OwnEntry | undefined;
    },
  ) {
    this.#zk = zk;
    this.#locations = locations;
    this.#entryOf = entryOf;
  }

  async leave(queue: string, id: string): Promise<readonly string[]> {
    const { root } = this.#locations;
    const directory = traceDirectory(root, queue);
    const own = await this.#entryOf(queue, id)?.recordTrace({ root, directory });
    if (own === undefined) {
      throw new QueueLockError('ENTRY_LOST', `the entry is no longer in the queue ${JSON.stringify(queue)}`);
    }
    const names = (await this.#zk.children(directory)) ?? [];
    // Ignores children that are no traces: the directories of nested names, such as the directory of `a/b`
    // for the queue `a`.
    return this.#withoutEntries(
      queue,
      names.filter((name) => name !== own && resemblesEntry(name)),
    );
  }

  async erase(queue: string, traces: readonly string[]): Promise<void> {
    const directory = traceDirectory(this.#locations.root, queue);
    await Promise.all(traces.map((name) => this.#zk.delete(`${directory}/${name}`)));
  }

  /**
   * Returns the traces whose entries have left the queue. An entry may have been converted to a reader
   * meanwhile, and then has another name.
   */
  async #withoutEntries(queue: string, names: readonly string[]): Promise<readonly string[]> {
    if (names.length === 0) return [];
    const { directory, scheme } = locationOf(this.#locations, queue);
    const children = (await this.#zk.children(directory)) ?? [];
    return names.filter((name) => !children.some((child) => isEntryOf(child, name, scheme)));
  }
}
