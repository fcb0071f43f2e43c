import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where pnpm keeps packages of others. */
const STORE = 'node_modules/.pnpm';

interface Manifest {
  readonly files?: readonly string[];
}

/** Returns the bytes of a package of others, as it is installed here; 0 for one that is not installed on this platform. */
export function bytesOfOthers(nameAtVersion: string): number {
  const name = nameAtVersion.slice(0, nameAtVersion.lastIndexOf('@'));
  const folder = nameAtVersion.replaceAll('/', '+');
  // Behind the version stand the peers that it was installed with.
  const found = readdirSync(STORE).find((one) => one === folder || one.startsWith(`${folder}_`));
  return found === undefined ? 0 : bytesIn(join(STORE, found, 'node_modules', name));
}

/** Returns the bytes of a package of ours that are published, its build included. */
export function bytesOfOurs(folder: string): number {
  const { files = [] } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const published = files.filter((entry) => !entry.startsWith('!')).map((entry) => join(folder, entry));
  return published.filter((path) => existsSync(path)).reduce((sum, path) => sum + bytesIn(path), 0);
}

/** Counts neither hidden files nor what packages have installed inside of them. */
function bytesIn(path: string): number {
  const found = lstatSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path)
    .filter((name) => !name.startsWith('.') && name !== 'node_modules')
    .reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}
