import { QueueLockError } from '@queuelock/core/backend';
import type { ZkDriver } from './driver.ts';

// The server removes empty containers at its own time, so one may go between its making and the use of it.
const ATTEMPTS = 10;

/** A place below the chroot. */
export interface Place {
  /** `''` or the chroot. */
  readonly root: string;
  readonly directory: string;
}

/**
 * Tries to make something in a directory, which is made when the attempt says with `undefined` that it is missing: as
 * containers below the chroot, like Curator's, which the server removes some time after they were left empty; as plain
 * nodes up to the chroot, which other clients expect to stay.
 */
export async function withDirectory<T>(
  zk: ZkDriver,
  { root, directory }: Place,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  for (let count = 1; count <= ATTEMPTS; count += 1) {
    const made = await attempt();
    if (made !== undefined) return made;
    const above = { root, directory: directory.slice(0, directory.lastIndexOf('/')) };
    await withDirectory(zk, above, async () => {
      const created = await zk.create(
        directory,
        '',
        directory.length > root.length ? 'container' : 'persistent',
      );
      return created.path !== undefined || created.reason === 'exists' ? true : undefined;
    });
  }
  throw new QueueLockError(
    'UNAVAILABLE',
    `${directory} was removed again and again while something was made in it`,
  );
}
