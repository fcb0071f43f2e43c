import { statSync, type Stats } from 'node:fs';

type Identity = Pick<Stats, 'dev' | 'ino'>;

/** The identities of a lock file and of its side files, as they are on disk at present. */
export type FileIdentity = readonly (Identity | undefined)[];

/**
 * The suffixes of the file and its side files. `-wal` and `-shm` exist while any process has the file open. The last process that closes it removes
 * them.
 */
const PARTS = ['', '-wal', '-shm'];

/** Returns the identity of an open file with its side files. */
export function identityOf(path: string): FileIdentity {
  return PARTS.map((part) => statSync(path + part, { throwIfNoEntry: false }));
}

/** Returns whether two identities consist of the same files, and none of the files is missing. */
export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.every((part, position) => {
    const found = other[position];
    return part !== undefined && found !== undefined && part.ino === found.ino && part.dev === found.dev;
  });
}
