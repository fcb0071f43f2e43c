import { linkSync, realpathSync, statSync, statfsSync, unlinkSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { detailOf, invalidArgument } from '@queuelock/core/backend';
import { clockEvidence, clockFault } from '../base/clock-check.ts';
import { hasOwnClock } from '../base/machine.ts';
import { requireOwnFile } from './ownership.ts';

/**
 * File systems that are unsuitable for a lock file, by their magic number on Linux (statfs(2)). On some, several machines share the file.
 * On others, processes cannot share file locks or memory.
 */
const UNFIT: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9P'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x19830326, 'BeeGFS'],
  [0x786f4256, 'a folder shared by VirtualBox'],
  [0xbacbacbc, 'a folder shared by VMware'],
]);

/**
 * Returns the name of a file system on which lock files do not work; `undefined` for any other file system.
 */
export function unfitFileSystem(type: number): string | undefined {
  // statfs reports a signed 32-bit number, so magic numbers above 2^31 are negative.
  return UNFIT.get(type >>> 0);
}

/**
 * Checks that processes can share a file at this path. If the file is missing, creates it, with access for this user alone. Does not open
 * an existing file: closing it would release the locks that SQLite has on it in this process.
 * @returns the path without symbolic links
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the path is unfit; `ACCESS_DENIED` when another user could change the file
 */
export function prepareFile(file: string): string {
  const fault = clockFault(clockEvidence());
  if (fault !== undefined)
    throw invalidArgument('file', file, `is for processes that share the clock of the machine: ${fault}`);
  if (hasOwnClock()) {
    const rule = 'is for processes with a common clock: this one is in its own time namespace';
    throw invalidArgument('file', file, rule);
  }
  const directory = realDirectory(file);
  const unfit = unfitFileSystem(statfsSync(directory).type);
  if (unfit !== undefined) {
    const rule = `is on a disk of this machine: ${directory} is on ${unfit}, where file locks do not work across machines`;
    throw invalidArgument('file', file, rule);
  }
  const path = join(directory, basename(file));
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) create(path);
  else if (!found.isFile()) throw invalidArgument('file', file, 'is a file');
  const real = realpathSync(path);
  requireOwnFile(real);
  return real;
}

function realDirectory(file: string): string {
  try {
    return realpathSync(dirname(file));
  } catch (error) {
    throw invalidArgument('file', file, `is in an existing directory (${detailOf(error)})`);
  }
}

/**
 * Creates the file with its permissions under a temporary name, and then renames it. Another process may do
 * the same at that time.
 */
function create(path: string): void {
  const draft = `${path}-${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, '', { mode: 0o600, flag: 'wx' });
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST'))
      throw invalidArgument('file', path, `can be created (${detailOf(error)})`);
  } finally {
    unlinkIfThere(draft);
  }
}

function unlinkIfThere(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) unlinkSync(path);
}
