import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sharedEtcd, sharedRedis, sharedZooKeeper } from './services.ts';

const run = promisify(execFile);
const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Tests of those packages try these. */
const NEEDS_A_DATABASE = /@queuelock\/(postgres|mysql)/;

/** The pages with which most begin. */
const FIRST = [
  'README.md',
  ...['core', 'etcd', 'zookeeper', 'memory'].map((name) => `packages/${name}/README.md`),
];

function readmes(): string[] {
  const packages = readdirSync(join(root, 'packages'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(root, 'packages', name, 'README.md'));
  return [join(root, 'README.md'), ...packages];
}

/** The first TypeScript of a page: what a newcomer copies. */
function firstExample(page: string): string | undefined {
  return /```ts\n(.*?)```/s.exec(readFileSync(page, 'utf8'))?.[1];
}

/** The tests of the pages that most begin with, or of all others: their first example runs as it stands. */
export function describeExamples(which: 'first' | 'others'): void {
  const pages = readmes().filter((page) => FIRST.includes(relative(root, page)) === (which === 'first'));
  describe('the first example of each README', () => {
    let scratch: string;
    let endpoints: { etcd: string; zookeeper: string; redis: string };

    before(async function () {
      this.timeout(120_000);
      scratch = mkdtempSync(join(root, 'integration', 'node_modules', '.readme-'));
      const what = 'README examples';
      const [etcd, zookeeper] = [await sharedEtcd(what), await sharedZooKeeper(what)];
      const redis = await sharedRedis(what);
      endpoints = { etcd: etcd.endpoint, zookeeper: zookeeper.endpoint, redis: redis.endpoint };
    });

    after(() => {
      rmSync(scratch, { recursive: true });
    });

    for (const page of pages) {
      const example = firstExample(page);
      if (example === undefined || NEEDS_A_DATABASE.test(example)) continue;
      it(`${relative(root, page)} runs as it stands`, async () => {
        const file = join(
          scratch,
          `${relative(root, dirname(page)).replaceAll('/', '-') || 'root'}.test.mts`,
        );
        const served = example
          .replaceAll('127.0.0.1:2379', endpoints.etcd)
          .replaceAll('127.0.0.1:2181', endpoints.zookeeper)
          .replaceAll('127.0.0.1:6379', endpoints.redis)
          .replaceAll("'locks.db'", JSON.stringify(join(scratch, 'locks.db')));
        writeFileSync(file, served);
        const loader = ['--conditions=@queuelock/source', '--import', './.ci/tsx.mjs'];
        const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--timeout', '10000'];
        const command = example.includes('describeBackend') ? [...loader, ...mocha, file] : [...loader, file];
        const { stderr } = await run(process.execPath, command, { cwd: root, timeout: 60_000 });
        expect(stderr).to.equal('');
      }).timeout(70_000);
    }
  });
}
