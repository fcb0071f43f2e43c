import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folder in which pnpm stores third-party packages. */
const STORE = 'node_modules/.pnpm';

interface Manifest {
  readonly files?: readonly string[];
}

/**
 * Returns the bytes of a third-party package as it is installed in this repository, or 0 if it is not
 * installed on this platform.
 */
export function bytesOfOthers(nameAtVersion: string): number {
  const name = nameAtVersion.slice(0, nameAtVersion.lastIndexOf('@'));
  const folder = nameAtVersion.replaceAll('/', '+');
  // pnpm appends the peers of a package to the version in its folder name.
  const found = readdirSync(STORE).find((one) => one === folder || one.startsWith(`${folder}_`));
  return found === undefined ? 0 : bytesIn(join(STORE, found, 'node_modules', name));
}

/** Returns the size in bytes of one of queuelock's packages as it is published, its build included. */
export function bytesOfOurs(folder: string): number {
  const { files = [] } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const published = files.filter((entry) => !entry.startsWith('!')).map((entry) => join(folder, entry));
  return published.filter((path) => existsSync(path)).reduce((sum, path) => sum + bytesIn(path), 0);
}

/** Returns the bytes of all files below a path, without hidden files and nested `node_modules`. */
function bytesIn(path: string): number {
  const found = lstatSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path)
    .filter((name) => !name.startsWith('.') && name !== 'node_modules')
    .reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}
