import { QueueLockError, type HoldTraces } from '@queuelock/core/backend';
import type { ZkDriver } from './driver.ts';
import type { OwnEntry } from './entry.ts';
import { readerOf } from './entries.ts';
import { looksLikeEntry } from './marks.ts';
import { PRIVATE_DIRECTORY, traceDirectory } from './names.ts';
import { placeOf, type QueuePlace, type QueuePlaces } from './queue-place.ts';

/** A persistent node for each hold, named as its entry; see `HoldTraces`. */
export class Traces implements HoldTraces {
  readonly #zk: ZkDriver;
  readonly #places: QueuePlaces;
  readonly #entryOf: (queue: string, id: string) => OwnEntry | undefined;

  constructor(
    zk: ZkDriver,
    {
      places,
      entryOf,
    }: {
      readonly places: QueuePlaces;
      readonly entryOf: (queue: string, id: string) => OwnEntry | undefined;
    },
  ) {
    this.#zk = zk;
    this.#places = places;
    this.#entryOf = entryOf;
  }

  async leave(queue: string, id: string): Promise<readonly string[]> {
    const { root } = this.#places;
    const directory = traceDirectory(root, queue);
    const own = await this.#entryOf(queue, id)?.leaveTrace({ root, directory });
    if (own === undefined) {
      throw new QueueLockError(
        'ENTRY_LOST',
        `the entry is not in the queue ${JSON.stringify(queue)} any more`,
      );
    }
    const names = (await this.#zk.children(directory)) ?? [];
    // The others are directories of nested names.
    const others = names.filter((name) => name !== own && looksLikeEntry(name));
    const isIn = await Promise.all(others.map((name) => this.#isIn(queue, name)));
    return others.filter((_, i) => !isIn[i]);
  }

  async erase(queue: string, traces: readonly string[]): Promise<void> {
    const directory = traceDirectory(this.#places.root, queue);
    await Promise.all(traces.map((name) => this.#zk.delete(`${directory}/${name}`)));
  }

  /** Whether the entry is in the queue, as it was or as the reader that it turned into. */
  async #isIn(queue: string, name: string): Promise<boolean> {
    const { directory, scheme } = placeOf(this.#places, queue);
    if (await this.#zk.stat(`${directory}/${name}`)) return true;
    const reader = readerOf(name, scheme);
    return reader !== name && (await this.#zk.stat(`${directory}/${reader}`)) !== undefined;
  }
}

/** The trace of a hold that an earlier client of the session left; `path` is the entry's node. */
export async function findTrace(
  zk: ZkDriver,
  { root, directory, scheme }: QueuePlace,
  { id, path }: { readonly id: string; readonly path: string },
): Promise<string | undefined> {
  const traces = `${root}/${PRIVATE_DIRECTORY}/held${directory.slice(root.length)}`;
  const names = (await zk.children(traces)) ?? [];
  const name = names.find((candidate) =>
    scheme.idIsInText ? path.endsWith(`/${candidate}`) : candidate.startsWith(scheme.style.prefix(id)),
  );
  return name === undefined ? undefined : `${traces}/${name}`;
}
