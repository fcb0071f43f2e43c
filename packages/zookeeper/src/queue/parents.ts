import { QueueLockError } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';

// Maximum number of attempts. A new directory may disappear before it is used, since the server removes empty
// containers.
const ATTEMPTS = 10;

/** A directory below the chroot. */
export interface DirectoryLocation {
  /** The path of the chroot; empty if there is none. */
  readonly root: string;
  readonly directory: string;
  /** Whether the directory stays when it is empty. Default: the server removes it some time later. */
  readonly isKept?: boolean;
}

/**
 * Runs an attempt to create a node in a directory. If the attempt resolves with `undefined`, the directory is
 * missing. Then the directory is created and the attempt is repeated. Directories below the chroot are
 * containers, as with Curator: the server removes them some time after they became empty. The chroot is
 * persistent, since other clients expect it to stay. Directories with `isKept` are persistent too, as with
 * kazoo.
 */
export async function withDirectory<T>(
  zk: ZkDriver,
  location: DirectoryLocation,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  for (let count = 1; count <= ATTEMPTS; count += 1) {
    const made = await attempt();
    if (made !== undefined) return made;
    await makeDirectory(zk, location);
  }
  throw new QueueLockError(
    'UNAVAILABLE',
    `${location.directory} was removed repeatedly while a node was created in it`,
  );
}

/** Creates the directory and all missing parents. */
export async function makeDirectory(
  zk: ZkDriver,
  { root, directory, isKept = false }: DirectoryLocation,
): Promise<unknown> {
  const above = { root, keeps: isKept, directory: directory.slice(0, directory.lastIndexOf('/')) };
  const isContainer = !isKept && directory.length > root.length;
  return withDirectory(zk, above, async () => {
    const created = await zk.create(directory, '', isContainer ? 'container' : 'persistent');
    return created.path !== undefined || created.reason === 'exists' ? true : undefined;
  });
}
