import { QueueLockError, type HoldTraces } from '@queuelock/core/backend';
import type { ZkDriver } from './driver.ts';
import type { OwnEntry } from './entry.ts';
import {
  PRIVATE_DIRECTORY,
  entryPrefix,
  parseContender,
  queuePath,
  readerOf,
  traceDirectory,
} from './names.ts';
import type { Place } from './parents.ts';

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
    const isIn = await Promise.all(others.map((name) => this.#isIn(queue, name)));
    return others.filter((_, i) => !isIn[i]);
  }

  async erase(queue: string, traces: readonly string[]): Promise<void> {
    const directory = traceDirectory(this.#root, queue);
    await Promise.all(traces.map((name) => this.#zk.delete(`${directory}/${name}`)));
  }

  /** Whether the entry is in the queue, as it was or as the reader that it turned into. */
  async #isIn(queue: string, name: string): Promise<boolean> {
    const directory = queuePath(this.#root, queue);
    if (await this.#zk.stat(`${directory}/${name}`)) return true;
    const reader = readerOf(name);
    return reader !== name && (await this.#zk.stat(`${directory}/${reader}`)) !== undefined;
  }
}

/** The trace of a hold that an earlier client of the session left. */
export async function findTrace(
  zk: ZkDriver,
  { root, directory }: Place,
  id: string,
): Promise<string | undefined> {
  const traces = `${root}/${PRIVATE_DIRECTORY}/held${directory.slice(root.length)}`;
  const names = (await zk.children(traces)) ?? [];
  const name = names.find((candidate) => candidate.startsWith(entryPrefix(id)));
  return name === undefined ? undefined : `${traces}/${name}`;
}
