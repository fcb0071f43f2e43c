import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';

/** How to start a script in a process of its own. */
export interface Script {
  readonly script: string;
  /** Options of Node. */
  readonly execArgv: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Whether all packages were built for this run. */
export const isBuilt = process.env['QUEUELOCK_IS_BUILT'] === 'yes';

// What tests take from these are sources, which have to be built.
const SOURCES = ['@queuelock/cli', '@queuelock/harness'];

const require = createRequire(import.meta.url);
const prepared = new Map<string, Script>();

/**
 * A script of ours, given as its source. Where all was built for this run it is one file over the built packages, which starts in a third of
 * the time; else, and for a user who may not write here, it is run from its source, as this process is.
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

/** A script as this process is: what it imports are sources. */
export function fromSource(source: string): Script {
  return { script: source, execArgv: ownOptions() };
}

/** Those that this process was started with, but for the code of `-e`: the script would be a process that starts itself. */
function ownOptions(): readonly string[] {
  const at = process.execArgv.findIndex((option) => option === '-e' || option === '--eval');
  return at < 0 ? process.execArgv : process.execArgv.toSpliced(at, 2);
}

/** Where its imports are found as from the source; each process that runs tests makes its own. */
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

/** Itself and what it may import, but for the sources. */
function packagesOf(place: string): string[] {
  const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest;
  const { name, dependencies, devDependencies, optionalDependencies } = manifest;
  const all = [name, ...Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })];
  return all.filter((one) => !SOURCES.includes(one));
}

/** The nearest directory above with a package in it. */
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
