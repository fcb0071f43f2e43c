import { expect } from 'chai';
import { textOfPart } from '../src/compose.ts';
import { PAGES } from '../src/contents.ts';
import { repositorySources } from '../src/sources.ts';

const PROGRAM = /^```(?:tsx?|typescript|jsx?|javascript)\n(.*?)^```/gms;
const IMPORT = /(?:\bfrom|^import|\brequire\() ?'([^'.][^']*)'/gm;
const INSTALL = /npm (?:install|i) ([^\n`]*)/g;

/** Returns the name of the package in an import, as `@scope/name` for `@scope/name/entry`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/**
 * Returns the names of the packages in the install commands of a page, for instance after `npm install`.
 * Leaves out the versions.
 */
function installed(text: string): ReadonlySet<string> {
  const words = [...text.matchAll(INSTALL)].flatMap(([, line = '']) =>
    line.split(' #')[0]!.split(/[\s,;)]+/),
  );
  return new Set(words.map((word) => word.replace(/(?<=.)@[\d.x^~]+$/, '')));
}

/** Returns the packages that programs of a page import although no install line of the page names them. */
function missing(text: string): readonly string[] {
  const named = installed(text);
  const imports = [...text.matchAll(PROGRAM)].flatMap(([, code = '']) => [...code.matchAll(IMPORT)]);
  const packages = imports.map(([, specifier = '']) => packageOf(specifier));
  const needed = packages.filter((name) => !name.startsWith('node:') && name !== '@queuelock/core');
  return named.size === 0 ? [] : [...new Set(needed.filter((name) => !named.has(name)))];
}

describe('the install lines of a page of the site', () => {
  it('name the packages that the code examples of the page import', () => {
    const { read } = repositorySources();
    const found = PAGES.map(({ route, parts }) => {
      const text = parts.map((part) => textOfPart(part, read)).join('\n');
      return [route, missing(text)] as const;
    });
    expect(Object.fromEntries(found.filter(([, names]) => names.length > 0))).to.deep.equal({});
  });

  it('are compared with the imports by package name only', () => {
    const page = (imports: string): string =>
      `npm install redis@6 @a/b\n\n    npm i one # two\n\n\`\`\`ts\n${imports}\n\`\`\`\n`;
    const program = "import { a } from '@a/b/c';\nimport 'redis';\nimport './x.ts';\nimport 'node:fs';";
    expect(missing(page(program))).to.deep.equal([]);
    expect(missing(page("import two from 'two';\nconst pg = require('pg');"))).to.deep.equal(['two', 'pg']);
  });
});
