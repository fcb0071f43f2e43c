import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { circleIn, type Import } from './import-circles.ts';

const ROOTS = ['.ci', 'integration', 'packages'];
// Folders that programs fill.
const GENERATED = new Set(['node_modules', 'dist', 'bundle', 'coverage', '.cache']);
const MODULE = /(?<!\.d)\.(ts|tsx|mts|js|mjs)$/;
/**
 * Folders whose classes refer to each other: the objects of one simulated ensemble, and those of one model of a history. Their modules may import
 * each other, but none outside of the folder in a circle.
 */
const CONNECTED = ['packages/core/test/model', 'packages/simulation/src/zookeeper'];

/** Returns imports between modules of the repository that lead in a circle, or none. Imports of types and dynamic imports count too. */
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
