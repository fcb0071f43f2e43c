import { QueueLockError, type HoldTraces } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import type { OwnEntry } from './entry.ts';
import { isEntryOf } from '../queue/entries.ts';
import { looksLikeEntry } from '../queue/marks.ts';
import { PRIVATE_DIRECTORY, nameOf, traceDirectory } from '../queue/names.ts';
import { withDirectory, type DirectoryLocation } from '../queue/parents.ts';
import { locationOf, type QueueLocation, type QueueLocations } from '../queue/queue-location.ts';

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
    // The other children are directories of nested names.
    return this.#withoutEntries(
      queue,
      names.filter((name) => name !== own && looksLikeEntry(name)),
    );
  }

  async erase(queue: string, traces: readonly string[]): Promise<void> {
    const directory = traceDirectory(this.#locations.root, queue);
    await Promise.all(traces.map((name) => this.#zk.delete(`${directory}/${name}`)));
  }

  /** Returns the traces whose entries are not in the queue, neither as they were nor as the readers that they were converted to. */
  async #withoutEntries(queue: string, names: readonly string[]): Promise<readonly string[]> {
    if (names.length === 0) return [];
    const { directory, scheme } = locationOf(this.#locations, queue);
    const children = (await this.#zk.children(directory)) ?? [];
    return names.filter((name) => !children.some((child) => isEntryOf(child, name, scheme)));
  }
}

/** Identifies an entry of a session. */
export interface Identity {
  readonly id: string;
  /** Whether an earlier client of the session may have enqueued the entry. */
  readonly isResumed: boolean;
}

/** The trace of the hold of an entry of this session. */
export class OwnTrace {
  readonly #zk: ZkDriver;
  readonly #location: QueueLocation;
  readonly #id: string;
  /** Whether an earlier client of the session may have created the trace. */
  readonly #isResumed: boolean;
  /** The path of the trace, once it may exist. */
  #path: string | undefined;

  constructor(zk: ZkDriver, location: QueueLocation, { id, isResumed }: Identity) {
    this.#zk = zk;
    this.#location = location;
    this.#id = id;
    this.#isResumed = isResumed;
  }

  /** Creates the trace with the name that the entry had the first time. Resolves with that name. Can be repeated. */
  async leave({ root, directory }: DirectoryLocation, name: string): Promise<string> {
    const path = (this.#path ??= `${directory}/${name}`);
    await withDirectory(this.#zk, { root, directory }, async () => {
      const created = await this.#zk.create(path, '', 'persistent');
      return created.path !== undefined || created.reason === 'exists' ? true : undefined;
    });
    return nameOf(path);
  }

  /** Deletes the trace if the node of the entry exists. A hold that was lost keeps its trace. */
  async erase(entry: string): Promise<void> {
    const isFound = this.#path === undefined && this.#isResumed;
    const path = isFound
      ? await findTrace(this.#zk, this.#location, { id: this.#id, path: entry })
      : this.#path;
    if (path !== undefined && (await this.#zk.stat(entry))) await this.#zk.delete(path);
  }
}

/**
 * Finds the trace of a hold that an earlier client of the session left.
 * @param path the node of the entry
 */
async function findTrace(
  zk: ZkDriver,
  { root, directory, scheme }: QueueLocation,
  { id, path }: { readonly id: string; readonly path: string },
): Promise<string | undefined> {
  const traces = `${root}/${PRIVATE_DIRECTORY}/held${directory.slice(root.length)}`;
  const names = (await zk.children(traces)) ?? [];
  const name = names.find((candidate) =>
    scheme.idIsInText ? path.endsWith(`/${candidate}`) : candidate.startsWith(scheme.style.prefix(id)),
  );
  return name === undefined ? undefined : `${traces}/${name}`;
}
