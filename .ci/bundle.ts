// Makes few files of what Node would otherwise read as dozens or hundreds, at every start of the command and of a program that imports a library.
import { build, type BuildOptions } from 'esbuild';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

type Dependencies = Readonly<Record<string, string>>;

interface Manifest {
  readonly dependencies?: Dependencies;
  readonly optionalDependencies?: Dependencies;
  readonly peerDependencies?: Dependencies;
}

/** Makes few files of built ones. What the package depends on stays outside. */
async function bundle(name: string, files: readonly string[], options: BuildOptions = {}): Promise<string> {
  const folder = resolve('packages', name);
  const outdir = join(folder, 'bundle');
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints: files.map((file) => join(folder, 'dist', file)),
    outdir,
    // Side by side, and one folder deep: by their own places they find the package and each other.
    entryNames: '[name]',
    external: Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).flatMap(
      (one) => [one, `${one}/*`],
    ),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    ...options,
  });
  return outdir;
}

// First, since the command has it in it.
await bundle('etcd', ['index.js'], { sourcemap: true });

// The command has all of ours that it loads in it, RxJS included: as ES modules, of which only what is used is taken.
const rxjs = resolve('packages/cli/node_modules/rxjs');
const command = await bundle('cli', ['main.js', 'run/watchdog-process.js'], {
  alias: { rxjs: join(rxjs, 'dist/esm/index.js') },
});
copyFileSync(join(rxjs, 'LICENSE.txt'), join(command, 'rxjs.LICENSE.txt'));
