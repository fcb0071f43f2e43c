/**
 * Makes a package load only the files of RxJS that it uses. `import … from 'rxjs'` would make Node read 190
 * files, of which the core uses 90. Loading a file with `require` takes two thirds of the time that `import`
 * takes. The files belong to the application's own RxJS, so an `Observable` of queuelock is an `instanceof`
 * the application's class. All versions 7.8 of RxJS export `rxjs/internal/*`.
 */
import type { Plugin } from 'esbuild';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The file beside a bundle that requires the parts of RxJS. It is CommonJS, because the bundlers of
 * applications follow its `require` calls.
 */
const PARTS = './rx.cjs';

/**
 * Replaces `rxjs` by a file that requires only the parts that the package uses, and writes that file into the
 * folder of the bundle.
 */
export function rxParts(rxjs: string, outdir: string): Plugin {
  const names = new Set<string>();
  return {
    name: 'rx-parts',
    setup(build) {
      build.onResolve({ filter: /^rxjs$/ }, () => ({ path: PARTS, external: true }));
      // Collects the names of the used parts of RxJS from the package's rx.ts alone. A lint rule ensures that
      // only modules with that name import values of RxJS.
      build.onLoad({ filter: /[/\\]rx\.js$/ }, ({ path }) => {
        for (const name of reexported(readFileSync(path, 'utf8'))) names.add(name);
        return undefined;
      });
      build.onEnd(() => {
        if (names.size > 0) writeFileSync(join(outdir, PARTS), partsOf([...names].sort(), rxjs));
      });
    },
  };
}

/**
 * Creates a plugin for a bundle that contains RxJS itself. The plugin resolves `rxjs`, and the file that
 * `rxParts` writes, to the ES modules of RxJS.
 */
export function wholeRx(rxjs: string): Plugin {
  return {
    name: 'whole-rx',
    setup(build) {
      const path = join(rxjs, 'dist/esm/index.js');
      build.onResolve({ filter: /^rxjs$|^\.\/rx\.cjs$/ }, () => ({ path, sideEffects: false }));
    },
  };
}

function reexported(module: string): readonly string[] {
  const list = /export \{([^}]*)\} from 'rxjs'/.exec(module)?.[1] ?? '';
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function partsOf(names: readonly string[], rxjs: string): string {
  const files = filesOf(rxjs);
  const lines = names.map((name) => {
    const file = files.get(name);
    if (file === undefined) throw new Error(`RxJS has no file for ${name}`);
    return `exports.${name} = require('rxjs/${file}').${name};`;
  });
  return `'use strict';\n${lines.join('\n')}\n`;
}

/** Returns the file of RxJS that defines each exported name, as read from its index. */
function filesOf(rxjs: string): ReadonlyMap<string, string> {
  const index = readFileSync(join(rxjs, 'dist/esm/index.js'), 'utf8');
  const lines = index.matchAll(/export \{ ([^}]*) \} from '\.\/(internal\/[^']*)'/g);
  return new Map(
    [...lines].flatMap(([, names = '', file = '']) => names.split(', ').map((name) => [name, file] as const)),
  );
}
