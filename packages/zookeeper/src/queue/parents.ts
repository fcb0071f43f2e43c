import { QueueLockError } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';

// The server removes empty containers at its own time, so one may go between its making and the use of it.
const ATTEMPTS = 10;

/** A place below the chroot. */
export interface Place {
  /** `''` or the chroot. */
  readonly root: string;
  readonly directory: string;
  /** It stays when it is empty. Default: it goes some time after. */
  readonly keeps?: boolean;
}

/**
 * Tries to make something in a directory, which is made when the attempt says with `undefined` that it is missing: as
 * containers below the chroot, like Curator's, which the server removes some time after they were left empty; as plain
 * nodes up to the chroot, which other clients expect to stay, and where the place keeps them, like kazoo's.
 */
export async function withDirectory<T>(
  zk: ZkDriver,
  place: Place,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  for (let count = 1; count <= ATTEMPTS; count += 1) {
    const made = await attempt();
    if (made !== undefined) return made;
    await makeDirectory(zk, place);
  }
  throw new QueueLockError(
    'UNAVAILABLE',
    `${place.directory} was removed again and again while something was made in it`,
  );
}

/** Makes the directory, unless it is there, and whatever is missing above it. */
export async function makeDirectory(
  zk: ZkDriver,
  { root, directory, keeps = false }: Place,
): Promise<unknown> {
  const above = { root, keeps, directory: directory.slice(0, directory.lastIndexOf('/')) };
  const goes = !keeps && directory.length > root.length;
  return withDirectory(zk, above, async () => {
    const created = await zk.create(directory, '', goes ? 'container' : 'persistent');
    return created.path !== undefined || created.reason === 'exists' ? true : undefined;
  });
}
