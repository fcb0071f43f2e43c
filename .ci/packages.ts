import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export interface PublicPackage {
  /** Name of the package without its scope, for instance `core`. */
  readonly name: string;
  readonly folder: string;
  /**
   * The entry points of the package: subpath and file of types, for instance `['./backend',
   * './dist/backend.d.ts']`.
   */
  readonly doors: readonly (readonly [subpath: string, types: string])[];
}

interface Manifest {
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, { readonly types: string }>>;
}

/** Returns the packages that are published. */
export function publicPackages(): PublicPackage[] {
  return readdirSync('packages', { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, folder: resolve('packages', name) }))
    .map((found) => ({ ...found, manifest: manifestOf(found.folder) }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ name, folder, manifest }) => ({ name, folder, doors: doorsOf(manifest) }));
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(resolve(folder, 'package.json'), 'utf8')) as Manifest;
}

function doorsOf({ exports = {} }: Manifest): [string, string][] {
  return Object.entries(exports).map(([subpath, { types }]) => [subpath, types]);
}
