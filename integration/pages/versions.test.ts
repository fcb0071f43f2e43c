import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, textOf } from './scratch.ts';

const page = textOf('VERSIONING');

/** Returns the cells of the row of a table in VERSIONING.md whose first cell is `first`. */
function rowOf(first: string): readonly string[] {
  const row = page.split('\n').find((line) => line.startsWith(`| ${first} `));
  if (row === undefined) throw new Error(`VERSIONING.md has no row of ${first}`);
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function numberIn(file: string, pattern: RegExp): string {
  return pattern.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1] ?? `not found in ${file}`;
}

describe('the page of versions, VERSIONING.md', () => {
  const numbers = {
    'Redis, Valkey': numberIn('packages/redis/src/lua/keys.ts', /FORMAT = '(\d+)'/),
    PostgreSQL: numberIn('packages/postgres/src/sql/migration.ts', /FORMAT = (\d+)/),
    'MySQL, MariaDB': numberIn('packages/mysql/src/schema/migration.ts', /VERSION = (\d+)/),
    'bridge and browser': numberIn('packages/bridge/src/wire/topic.ts', /WIRE_VERSION = (\d+)/),
  };
  for (const [store, number] of Object.entries(numbers)) {
    it(`states the format number of ${store}`, () => {
      expect(rowOf(store)[2]).to.equal(number);
    });
  }

  it('states the format number of SQLite', async () => {
    const { STEPS } = (await import('../../packages/sqlite/src/queue/schema.ts')) as {
      STEPS: readonly string[];
    };
    expect(rowOf('SQLite')[2]).to.equal(String(STEPS.length));
  });

  it('states the versions of Node, TypeScript and RxJS that the manifests allow and the tests use', () => {
    const core = JSON.parse(readFileSync(join(ROOT, 'packages/core/package.json'), 'utf8')) as {
      engines: { node: string };
      peerDependencies: { rxjs: string };
    };
    expect(core.engines.node).to.equal('^20.19.0 || ^22.13.0 || >=24');
    expect(rowOf('Node')[1]).to.equal('20.19, 22.13, 24 and later');
    const [, least] = /^(7\.\d+) and later 7\.x$/.exec(rowOf('RxJS')[1]!)!;
    expect(core.peerDependencies.rxjs).to.equal(`^${least}.0`);
    const compilers = readFileSync(join(ROOT, 'integration/consumers.long.ts'), 'utf8');
    const tested = [...compilers.matchAll(/version: '(\d+\.\d+)/g)].map(([, version]) => version).join(', ');
    expect(rowOf('TypeScript')[2]).to.equal(`${tested}, with \`skipLibCheck: false\``);
    const workflow = readFileSync(join(ROOT, '.github/workflows/ci.yml'), 'utf8');
    const matrix = /node: \[([^\]]+)\]/.exec(workflow)?.[1];
    expect(rowOf('Node')[2]).to.equal(`20, ${matrix}`);
  });
});
