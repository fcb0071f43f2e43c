import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { circleIn, type Import } from './import-circles.ts';

const ROOTS = ['.ci', 'integration', 'packages'];
// Names of folders that are not searched for modules, because their files are generated.
const GENERATED = new Set(['node_modules', 'dist', 'bundle', 'coverage', '.cache']);
const MODULE = /(?<!\.d)\.(ts|tsx|mts|js|mjs)$/;
/**
 * Folders whose modules may import each other in a circle, because their classes refer to each other. They
 * are the simulated ZooKeeper ensemble and a model of histories. Circles that leave the folder are not
 * allowed.
 */
const CONNECTED = ['packages/core/test/model', 'packages/simulation/src/zookeeper'];

/**
 * Returns imports between modules of the repository that form a circle, or none. Type imports and dynamic
 * imports count too.
 */
export function circleOfModules(): readonly Import[] {
  const modules = new Set(ROOTS.flatMap(modulesIn));
  return circleIn([...modules].flatMap((path) => importsOf(path, modules))) ?? [];
}

function modulesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return GENERATED.has(entry.name) ? [] : modulesIn(path);
    return MODULE.test(path) ? [path] : [];
  });
}

function importsOf(path: string, modules: ReadonlySet<string>): readonly Import[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(path, 'utf8'));
  return importedFiles
    .filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => join(dirname(path), fileName))
    .filter((to) => modules.has(to) && !areConnected(path, to))
    .map((to) => ({ from: path, to, because: `${path} imports ${to}` }));
}

function areConnected(one: string, other: string): boolean {
  return CONNECTED.includes(dirname(one)) && dirname(one) === dirname(other);
}
