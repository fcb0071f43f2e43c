import { queuePath } from './names.ts';
import type { Scheme } from './naming.ts';
import type { Place } from './parents.ts';

/** A queue's directory, and how its entries are named. */
export interface QueuePlace extends Place {
  readonly scheme: Scheme;
}

/** All queues of a backend. */
export interface QueuePlaces {
  /** `''` or the chroot. */
  readonly root: string;
  /** @throws {QueueLockError} `INVALID_ARGUMENT` */
  readonly schemeFor: (queue: string) => Scheme;
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` for a name that cannot be a path, or with a naming that there is not. */
export function placeOf({ root, schemeFor }: QueuePlaces, queue: string): QueuePlace {
  const directory = queuePath(root, queue);
  const scheme = schemeFor(queue);
  return { root, directory, scheme, keeps: scheme.keepsDirectory };
}
