import type { ZkDriver } from '../driver/driver.ts';
import { PRIVATE_DIRECTORY, nameOf } from '../queue/names.ts';
import { withDirectory, type DirectoryLocation } from '../queue/parents.ts';
import type { QueueLocation } from '../queue/queue-location.ts';

/** The id of an entry, and whether an earlier client of the session may have enqueued it. */
export interface Identity {
  readonly id: string;
  /** Whether the session was resumed, so that the client that had it before may have enqueued the entry. */
  readonly isResumed: boolean;
}

/** The trace of an entry's hold: a node that records the hold until it is released. */
export class OwnTrace {
  readonly #zk: ZkDriver;
  readonly #location: QueueLocation;
  readonly #id: string;
  /** Whether the client that had the session before may have created the trace. If so, the trace is searched for. */
  readonly #isResumed: boolean;
  /** The path of the trace, once it may exist. */
  #path: string | undefined;

  constructor(zk: ZkDriver, location: QueueLocation, { id, isResumed }: Identity) {
    this.#zk = zk;
    this.#location = location;
    this.#id = id;
    this.#isResumed = isResumed;
  }

  /**
   * Creates the trace of the hold, and resolves with the name of the trace. Repeated calls use the name of the first call, even if the entry has
   * another name by then. So a call with an unknown outcome can be repeated.
   */
  async leave({ root, directory }: DirectoryLocation, name: string): Promise<string> {
    const path = (this.#path ??= `${directory}/${name}`);
    await withDirectory(this.#zk, { root, directory }, async () => {
      const created = await this.#zk.create(path, '', 'persistent');
      return created.path !== undefined || created.reason === 'exists' ? true : undefined;
    });
    return nameOf(path);
  }

  /** Deletes the trace when the entry is removed. If the entry's node does not exist, the hold was lost, and its trace stays. */
  async erase(entry: string): Promise<void> {
    const isFound = this.#path === undefined && this.#isResumed;
    const path = isFound
      ? await findTrace(this.#zk, this.#location, { id: this.#id, path: entry })
      : this.#path;
    if (path !== undefined && (await this.#zk.stat(entry))) await this.#zk.delete(path);
  }
}

/**
 * Finds the trace that a previous client of the session has recorded for the hold of an entry.
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
