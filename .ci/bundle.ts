// Makes few files of the command and all of ours that it loads, RxJS included: Node would open hundreds at every start, which takes
// longer than most commands run. What the package depends on stays outside.
import { build } from 'esbuild';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const folder = resolve('packages/cli');
const outdir = join(folder, 'bundle');
const { dependencies, optionalDependencies } = JSON.parse(
  readFileSync(join(folder, 'package.json'), 'utf8'),
) as Record<'dependencies' | 'optionalDependencies', Readonly<Record<string, string>>>;
const rxjs = join(folder, 'node_modules/rxjs');

rmSync(outdir, { recursive: true, force: true });
await build({
  entryPoints: ['main.js', 'run/watchdog-process.js'].map((file) => join(folder, 'dist', file)),
  outdir,
  // Side by side, and one folder deep: by their own places they find the package and each other.
  entryNames: '[name]',
  external: Object.keys({ ...dependencies, ...optionalDependencies }),
  // As ES modules, of which only what is used is taken.
  alias: { rxjs: join(rxjs, 'dist/esm/index.js') },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
});
copyFileSync(join(rxjs, 'LICENSE.txt'), join(outdir, 'rxjs.LICENSE.txt'));
