import { statSync, type Stats } from 'node:fs';

type Identity = Pick<Stats, 'dev' | 'ino'>;

/** Which files the path of a lock file and those of its side files lead to. */
export type FileIdentity = readonly (Identity | undefined)[];

/** `-wal` and `-shm` stay for as long as a process has the file open: the last one that closes it removes them. */
const PARTS = ['', '-wal', '-shm'];

/** The identity of an open file with its side files. */
export function identityOf(path: string): FileIdentity {
  return PARTS.map((part) => statSync(path + part, { throwIfNoEntry: false }));
}

/** Returns whether both are of the same files, and none of them is missing. */
export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.every((part, place) => {
    const found = other[place];
    return part !== undefined && found !== undefined && part.ino === found.ino && part.dev === found.dev;
  });
}
