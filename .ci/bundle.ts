// Bundles the built files of the command and of libraries into few files. Otherwise Node would read dozens or
// hundreds of files at each start.
import { build, type BuildOptions, type Metafile } from 'esbuild';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { publicPackages } from './packages.ts';
import { rxParts, wholeRx } from './rx-parts.ts';

type Dependencies = Readonly<Record<string, string>>;

interface Manifest {
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dependencies?: Dependencies;
  readonly optionalDependencies?: Dependencies;
  readonly peerDependencies?: Dependencies;
}

/** Files that a worker thread loads by their URL, so each needs its own bundle. */
const OF_THREADS: Readonly<Record<string, readonly string[]>> = {
  core: ['session/heartbeat-thread.js'],
  etcd: ['open-renewer.js'],
  redis: ['open-renewer.js'],
  postgres: ['open-renewer.js'],
  mysql: ['open-renewer.js'],
  consul: ['open-renewer.js'],
};

/**
 * The only third-party package that the bundle of a library contains. Loading the 30 files of `cockatiel`
 * takes 40 ms, and a bundle needs only its retry policy and its backoff.
 */
const INLINED = 'cockatiel';

/**
 * Third-party packages that a bundle may contain, with the files of their license notices, which every copy
 * must include. All other packages stay imports: some licenses forbid bundling, and some packages are large.
 */
const NOTICES: ReadonlyMap<string, string> = new Map([
  [INLINED, 'LICENSE'],
  ['rxjs', 'LICENSE.txt'],
  ['semver', 'LICENSE'],
  ['tslib', 'LICENSE.txt'],
]);

function manifestOf(name: string): Manifest {
  return JSON.parse(readFileSync(join('packages', name, 'package.json'), 'utf8')) as Manifest;
}

/** Bundles built files of a package. All of its dependencies except `cockatiel` remain imports. */
async function bundle(name: string, files: readonly string[], options: BuildOptions = {}): Promise<void> {
  const outdir = outdirOf(name);
  const { dependencies, optionalDependencies, peerDependencies } = manifestOf(name);
  const outside = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).filter(
    (one) => one !== INLINED,
  );
  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: files.map((file) => resolve('packages', name, 'dist', file)),
    outdir,
    // Writes all bundles into one folder, because they load each other and files of their package by relative
    // paths.
    entryNames: '[name]',
    external: outside.flatMap((one) => [one, `${one}/*`]),
    // Prefers the ES modules of a dependency, because esbuild can drop their unused parts.
    mainFields: ['module', 'main'],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    // Hides esbuild's warning about an import that it dropped: the bundle of the command `queuelock` omits
    // files of libraries that only a worker thread needs.
    logOverride: { 'ignored-bare-import': 'silent' },
    ...options,
    metafile: true,
  });
  for (const folder of othersIn(metafile)) copyNotice(folder, name);
}

/** Returns the folders of the third-party packages of which a bundle contains a part. */
function othersIn({ outputs }: Metafile): ReadonlySet<string> {
  const parts = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const files = parts.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []));
  const folders = files.map((file) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]);
  return new Set(folders.filter((folder) => folder !== undefined));
}

function copyNotice(folder: string, name: string): void {
  const library = folder.replace(/^.*\bnode_modules\//, '');
  const notice = NOTICES.get(library);
  if (notice === undefined)
    throw new Error(
      `the bundle of ${name} would contain ${library}: name it in (peer)dependencies of ${name}`,
    );
  copyFileSync(join(folder, notice), join(outdirOf(name), `${library}.LICENSE.txt`));
}

function outdirOf(name: string): string {
  return resolve('packages', name, 'bundle');
}

/**
 * Returns the entry points of a library that Node loads from the library's bundle: those that `exports` lists
 * under the condition `node`.
 */
function doorsOf(name: string): string[] {
  const doors = Object.values(manifestOf(name).exports ?? {}).flatMap(({ node }) => node ?? []);
  return doors.map((door) => door.replace(/^\.\/bundle\//, ''));
}

// Bundles libraries first, since the bundle of the command `queuelock` contains them.
for (const { name } of publicPackages()) {
  const doors = doorsOf(name);
  const rxjs = resolve('packages', name, 'node_modules/rxjs');
  const plugins = [rxParts(rxjs, outdirOf(name))];
  const files = [...doors, ...(OF_THREADS[name] ?? [])];
  if (doors.length > 0) await bundle(name, files, { sourcemap: true, plugins });
}

// The bundle of the command contains all packages of queuelock that the command loads. It also contains the
// ES modules of RxJS, of which esbuild drops the unused parts.
const rxjs = resolve('packages/cli/node_modules/rxjs');
await bundle('cli', ['main.js', 'run/watchdog-process.js'], { plugins: [wholeRx(rxjs)] });
