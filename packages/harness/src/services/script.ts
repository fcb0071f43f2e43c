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

// Tests use the sources of these, which have to be bundled.
const SOURCES = ['@queuelock/cli', '@queuelock/harness'];

const require = createRequire(import.meta.url);
const prepared = new Map<string, Script>();

/**
 * Returns how to start a script of ours, given as its source. If all was built for this run, it is one bundle over the built
 * packages, which starts in a third of the time. Otherwise, and for a user without write access, it is run from its source, as
 * this process is.
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

/** Returns how to start a script from its source, whose imports are sources. */
export function fromSource(source: string): Script {
  return { script: source, execArgv: ownOptions() };
}

/** Returns this process's options, without the code of `-e`: the script would start itself again. */
function ownOptions(): readonly string[] {
  const at = process.execArgv.findIndex((option) => option === '-e' || option === '--eval');
  return at < 0 ? process.execArgv : process.execArgv.toSpliced(at, 2);
}

/** Bundles into a directory where its imports are found as from the source; each test process makes its own. */
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

/** Returns the package and its dependencies, except the sources. */
function packagesOf(place: string): string[] {
  const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest;
  const { name, dependencies, devDependencies, optionalDependencies } = manifest;
  const all = [name, ...Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })];
  return all.filter((one) => !SOURCES.includes(one));
}

/** Returns the nearest parent directory with a package.json. */
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
