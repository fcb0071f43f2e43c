import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { publicPackages } from '../../.ci/packages.ts';
import { ROOT } from '../pages/scratch.ts';

type Exports = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Name of the package without code to import. @queuelock/dashboard exports only the path of its page, for
 * programs that serve it.
 */
const WITHOUT_CODE = 'dashboard';

/** Returns the built files that programs import, under all export conditions of the packages. */
function entryFiles(): readonly string[] {
  const packages = publicPackages().filter(({ name }) => name !== WITHOUT_CODE);
  return packages.flatMap(({ folder }) => {
    const { exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      readonly exports?: Exports;
    };
    const files = Object.values(exports).flatMap(({ node, default: other }) => [node, other]);
    return files.flatMap((file) => (file === undefined ? [] : [join(folder, file)]));
  });
}

/**
 * Returns the entry points of a build and all files that they import statically, without files that
 * `import()` loads.
 */
function staticImports({ inputs, outputs }: Metafile): ReadonlySet<string> {
  const found = new Set(Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? []));
  // Also visits the imports of files that the loop itself adds to the set: a set iterates over elements that
  // are added during the iteration.
  for (const file of found)
    for (const { path, kind, external } of inputs[file]?.imports ?? [])
      if (external !== true && kind === 'import-statement') found.add(path);
  return found;
}

describe('the built packages', () => {
  it('contain no import.meta in files that an import of a package loads', async () => {
    const { metafile } = await build({
      entryPoints: [...new Set(entryFiles())],
      absWorkingDir: ROOT,
      outdir: join(ROOT, 'never-written'),
      write: false,
      metafile: true,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
    });
    const files = [...staticImports(metafile)];
    expect(files).to.include.members(entryFiles().map((file) => relative(ROOT, file)));
    const wrong = files.filter((file) => /\bimport\.meta\./.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(wrong).to.deep.equal([]);
  });
});
