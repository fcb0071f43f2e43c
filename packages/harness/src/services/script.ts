import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';

/** The arguments that start a script in a process of its own. */
export interface Script {
  readonly script: string;
  /** Node's own command-line options, for the process that runs the script. */
  readonly execArgv: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Whether all packages were built for this run of the tests. */
export const isBuilt = process.env['QUEUELOCK_IS_BUILT'] === 'yes';

// Packages whose sources tests import. The bundle of a script includes these sources instead of importing
// built packages.
const SOURCES = ['@queuelock/cli', '@queuelock/harness'];

const require = createRequire(import.meta.url);
const prepared = new Map<string, Script>();

/**
 * Returns the arguments for Node that start a script of this repository, given by the path of its source. If
 * all packages were built for this run, the script is bundled into one file, which starts in a third of the
 * time. Otherwise, or if the user cannot write files, it runs from its source.
 */
export function scriptOf(source: string): Script {
  const known = prepared.get(source);
  if (known) return known;
  const place = packageOf(source);
  const script =
    isBuilt && isWritable(place) ? { script: bundle(source, place), execArgv: [] } : fromSource(source);
  prepared.set(source, script);
  return script;
}

/** Returns the arguments that start a script from its source, whose imports are sources too. */
export function fromSource(source: string): Script {
  return { script: source, execArgv: ownOptions() };
}

/**
 * Returns the options of Node of this process without `-e` and its code. A script that inherited the code
 * would start itself again.
 */
function ownOptions(): readonly string[] {
  const at = process.execArgv.findIndex((option) => option === '-e' || option === '--eval');
  return at < 0 ? process.execArgv : process.execArgv.toSpliced(at, 2);
}

/**
 * Bundles a script into one file. The file is in a directory from which imports resolve as from the source.
 * Each test process writes a bundle of its own.
 */
function bundle(source: string, place: string): string {
  const name = relative(place, source).replace(/\.ts$/, '').replaceAll(sep, '-');
  const outfile = join(place, '.cache', `${name}-${process.pid}.mjs`);
  const external = packagesOf(place).flatMap((name) => [`--external:${name}`, `--external:${name}/*`]);
  const options = ['--bundle', '--platform=node', '--format=esm', '--target=node20', '--log-level=error'];
  execFileSync(require.resolve('esbuild/bin/esbuild'), [
    source,
    `--outfile=${outfile}`,
    ...options,
    ...external,
  ]);
  process.once('exit', () => rmSync(outfile, { force: true }));
  return outfile;
}

/**
 * Returns the names of the packages that a script's bundle imports in built form, not as sources. These are
 * the script's own package and its dependencies, except the packages whose sources are bundled.
 */
function packagesOf(place: string): string[] {
  const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest;
  const { name, dependencies, devDependencies, optionalDependencies } = manifest;
  const all = [name, ...Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })];
  return all.filter((one) => !SOURCES.includes(one));
}

/** Returns the nearest directory above the file that contains a package.json. */
function packageOf(file: string): string {
  const directory = dirname(file);
  return existsSync(join(directory, 'package.json')) ? directory : packageOf(directory);
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
