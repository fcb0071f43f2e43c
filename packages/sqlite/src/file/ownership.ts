import { lstatSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { QueueLockError } from '@queuelock/core/backend';

/** The owner and the permission bits of a file or a directory. */
export type Ownership = Pick<Stats, 'uid' | 'mode'>;

const ROOT = 0;
const WRITABLE_BY_GROUP_OR_OTHERS = 0o022;
const WRITABLE_BY_OTHERS = 0o002;
const STICKY = 0o1000;

/** Returns why the user `uid` must not trust a file; `undefined` when that user alone can write to it. */
export function fileFault({ uid: owner, mode }: Ownership, uid: number): string | undefined {
  if (owner !== uid) return `belongs to user ${owner}, and this process runs as user ${uid}`;
  return (mode & WRITABLE_BY_GROUP_OR_OTHERS) === 0 ? undefined : 'is writable by its group or by others';
}

/**
 * Returns why a directory must not contain a lock file of the user `uid`; `undefined` when it may. The
 * directory's group may write to it, since many systems give each user a group of its own. If another member
 * of the group puts a file there, that file is refused because of its owner.
 */
export function directoryFault({ uid: owner, mode }: Ownership, uid: number): string | undefined {
  if (owner !== uid && owner !== ROOT)
    return `belongs to user ${owner}, and this process runs as user ${uid}`;
  return (mode & WRITABLE_BY_OTHERS) === 0 || (mode & STICKY) !== 0
    ? undefined
    : 'is writable by all users and not sticky';
}

/**
 * Checks that no other user can change the file, its side files or their directory entries. Root is not exempt.
 * @throws {QueueLockError} `ACCESS_DENIED`
 */
export function requireOwnFile(path: string): void {
  const uid = process.geteuid?.();
  // Windows has neither owners nor modes.
  if (uid === undefined) return;
  const directory = dirname(path);
  refuse(directory, directoryFault(statSync(directory), uid));
  for (const name of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`]) {
    const found = lstatSync(name, { throwIfNoEntry: false });
    if (found) refuse(name, found.isFile() ? fileFault(found, uid) : 'is not a regular file');
  }
}

function refuse(path: string, fault: string | undefined): void {
  if (fault === undefined) return;
  const remedy =
    'another user could change the locks in it; run all processes as the owner and remove the write permission of others (chmod go-w), or choose a file in a directory of this user';
  throw new QueueLockError('ACCESS_DENIED', `${path} ${fault}: ${remedy}`);
}
