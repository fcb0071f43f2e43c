import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sharedEtcd, sharedRedis, sharedZooKeeper } from '@queuelock/harness/services';
import { publicPackages } from '../../.ci/packages.ts';
import { packAll, tarballOf } from '../../.ci/tarballs.ts';
import { ROOT } from '../pages/scratch.ts';

const run = promisify(execFile);
/**
 * Packages that no test of an application loads: `dashboard` exports only the path of a page, and
 * `conformance` needs mocha.
 */
const OMITTED = ['dashboard', 'conformance'];
const PACKAGES = publicPackages().filter(({ name, doors }) => doors.length > 0 && !OMITTED.includes(name));
const PAGE = readFileSync(join(ROOT, 'packages/site/pages/testing.md'), 'utf8');
const DEPENDENCIES = {
  jest: '30.5.2',
  rxjs: '7.8.2',
  '@nestjs/common': '11.2.10',
  '@nestjs/core': '11.2.10',
  '@nestjs/schedule': '6.1.3',
  'reflect-metadata': '0.2.2',
};

const CONFIG = /```javascript\n(\/\/ jest\.config\.js\n.*?)```/s.exec(PAGE)?.[1] ?? '';
const PLUGINS = [...PAGE.matchAll(/(@babel\/[\w-]+)@(\d+)/g)].map(
  ([, name, major]) => [name, major] as const,
);

/** Returns a test file of Jest that requires all entry points, and takes a lock on each store. */
function tests(doors: readonly string[]): string {
  return `
    const { createLockClient } = require('@queuelock/core');
    for (const door of ${JSON.stringify(doors)})
      test('an application requires ' + door, () => void require(door));
    const stores = {
      memory: () => require('@queuelock/memory').memory(),
      etcd: () => require('@queuelock/etcd').etcd({ hosts: process.env.ETCD }),
      zookeeper: () => require('@queuelock/zookeeper').zookeeper({ hosts: [process.env.ZOOKEEPER], tickTimeMs: 500, syncLimit: 2 }),
      redis: () => require('@queuelock/redis').redis({ url: 'redis://' + process.env.REDIS }),
    };
    for (const [store, backend] of Object.entries(stores))
      test('an application takes a lock on ' + store, async () => {
        const locks = createLockClient(backend());
        try {
          expect(typeof (await locks.run('jest', ({ token }) => token))).toBe('bigint');
        } finally {
          await locks.close();
        }
      }, 30_000);
  `;
}

describe('the packed packages in Jest on CommonJS', function () {
  this.timeout(600_000);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'queuelock-jest-'));
    packAll(PACKAGES, folder);
    const files = PACKAGES.map(({ name }) => [`@queuelock/${name}`, `file:${tarballOf(name, folder)}`]);
    const dependencies = Object.fromEntries([
      ...files,
      ...PLUGINS,
      ...Object.entries(DEPENDENCIES),
    ]) as object;
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
    await writeFile(join(folder, 'jest.config.js'), CONFIG);
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: folder });
  });
  after(() => rm(folder, { recursive: true }));

  it('are loaded by `require` and take locks, with the Jest configuration that the documentation shows', async () => {
    const servers = await Promise.all([sharedEtcd('jest'), sharedZooKeeper('jest'), sharedRedis('jest')]);
    const [ETCD, ZOOKEEPER, REDIS] = servers.map(({ endpoint }) => endpoint);
    const doors = PACKAGES.flatMap(({ name, doors: subpaths }) =>
      subpaths.map(([subpath]) => join('@queuelock', name, subpath)),
    );
    await writeFile(join(folder, 'packages.test.js'), tests(doors));
    const args = ['jest', '--json', '--outputFile', 'outcome.json'];
    const env = { ...process.env, NODE_OPTIONS: '', ETCD, ZOOKEEPER, REDIS };
    await run('npx', args, { cwd: folder, env }).catch(() => undefined);
    const outcome = JSON.parse(await readFile(join(folder, 'outcome.json'), 'utf8')) as Outcome;
    const [{ assertionResults, message }] = outcome.testResults;
    expect(
      assertionResults.filter(({ status }) => status !== 'passed'),
      message,
    ).to.deep.equal([]);
    expect(assertionResults).to.have.length(doors.length + 4);
  });
});

/** The part of Jest's JSON report that the test of the packages reads. */
interface Outcome {
  readonly testResults: readonly [
    {
      readonly message: string;
      readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
    },
  ];
}
