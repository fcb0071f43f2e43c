import { queuePath } from './names.ts';
import type { Scheme } from './naming.ts';
import type { DirectoryLocation } from './parents.ts';

/** The directory and the naming scheme of a queue. */
export interface QueueLocation extends DirectoryLocation {
  readonly scheme: Scheme;
}

/** Where all queues of a backend are stored. */
export interface QueueLocations {
  /** The path of the chroot; empty if there is none. */
  readonly root: string;
  /** @throws {QueueLockError} `INVALID_ARGUMENT` when the function in `naming` returns an unknown scheme */
  readonly schemeFor: (queue: string) => Scheme;
}

/**
 * Returns the location of a queue.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a name that cannot be a path, or an unknown naming
 */
export function locationOf({ root, schemeFor }: QueueLocations, queue: string): QueueLocation {
  const directory = queuePath(root, queue);
  const scheme = schemeFor(queue);
  return { root, directory, scheme, isKept: scheme.keepsDirectory };
}
