import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { alteredSources, type Alteration } from '@queuelock/harness/alteration';
import type { Product, Recipes } from '../src/product.ts';

const FILES = [
  'core/src/index.ts',
  'etcd/src/backend.ts',
  'zookeeper/src/api/options.ts',
  'zookeeper/src/backend.ts',
  'recipes/src/index.ts',
];
const NAMES = ['core', 'etcd', 'zookeeper', 'recipes'];
const PACKAGES = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Returns the product's source files (`core/src/…`, `etcd/src/…`, `zookeeper/src/…`, `recipes/src/…`) with
 * the given changes.
 */
export function alteredProductSources(alterations: readonly Alteration[]): ReadonlyMap<string, string> {
  return alteredSources(alterations, PACKAGES);
}

/**
 * Loads copies of core, backends and recipes in which the given source changes are made. The copies import
 * each other. The original packages stay unchanged.
 */
export async function alteredProduct(alterations: readonly Alteration[]): Promise<Product> {
  const copy = mkdtempSync(join(tmpdir(), 'queuelock-altered-product-'));
  try {
    for (const name of NAMES) copyPackage(name, copy);
    for (const [file, text] of alteredProductSources(alterations)) writeFileSync(join(copy, file), text);
    const loaded = (await Promise.all(
      FILES.map((file) => import(pathToFileURL(join(copy, file)).href)),
    )) as Partial<Product>[];
    const { createLockClient, etcdOver, ZooKeeperBackend, settingsOf } = Object.assign(
      {},
      ...loaded,
    ) as Product;
    return { createLockClient, etcdOver, ZooKeeperBackend, settingsOf, recipes: loaded.at(-1) as Recipes };
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Copies a package. The copy depends on the same packages, except that its core is the copied one. */
function copyPackage(name: string, copy: string): void {
  const [from, to] = [join(PACKAGES, name), join(copy, name)];
  cpSync(join(from, 'src'), join(to, 'src'), { recursive: true });
  cpSync(join(from, 'package.json'), join(to, 'package.json'));
  mkdirSync(join(to, 'node_modules', '@queuelock'), { recursive: true });
  symlinkSync(join(copy, 'core'), join(to, 'node_modules', '@queuelock', 'core'));
  for (const dependency of readdirSync(join(from, 'node_modules')))
    if (dependency !== '@queuelock' && !dependency.startsWith('.'))
      symlinkSync(join(from, 'node_modules', dependency), join(to, 'node_modules', dependency));
}
