import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstExample, runExample } from '@queuelock/harness/readme';
import { sharedConsul, sharedEtcd, sharedRedis, sharedZooKeeper } from '@queuelock/harness/services';

/**
 * Matches examples that need PostgreSQL or MySQL. The tests of @queuelock/postgres and @queuelock/mysql run
 * them.
 */
const NEEDS_A_DATABASE = /@queuelock\/(postgres|mysql)/;

/**
 * Pages that new users read first. `pnpm test` runs only the examples on them; the long run runs all others.
 */
const FIRST = [
  'README.md',
  ...['core', 'etcd', 'zookeeper', 'memory'].map((name) => `packages/${name}/README.md`),
];

function readmes(): string[] {
  const packages = readdirSync('packages', { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `packages/${name}/README.md`);
  return ['README.md', ...packages];
}

/**
 * Defines the tests of the pages that new users read first, or of all other pages. Each test runs the first
 * example of a page unchanged.
 */
export function describeExamples(which: 'first' | 'others'): void {
  const pages = readmes().filter((page) => FIRST.includes(page) === (which === 'first'));
  describe('the first example of each README', () => {
    let scratch: string;
    let endpoints: { etcd: string; zookeeper: string; redis: string; consul: string };

    before(async function () {
      this.timeout(120_000);
      scratch = mkdtempSync(join(tmpdir(), 'queuelock-readme-'));
      const what = 'README examples';
      const [etcd, zookeeper] = [await sharedEtcd(what), await sharedZooKeeper(what)];
      const redis = await sharedRedis(what);
      const consul = await sharedConsul(what);
      endpoints = {
        etcd: etcd.endpoint,
        zookeeper: zookeeper.endpoint,
        redis: redis.endpoint,
        consul: consul.endpoint,
      };
    });

    after(() => {
      rmSync(scratch, { recursive: true });
    });

    for (const page of pages) {
      const example = firstExample(page);
      if (example === undefined || NEEDS_A_DATABASE.test(example)) continue;
      it(`runs unchanged: ${page}`, async () => {
        const served = example
          .replaceAll('127.0.0.1:2379', endpoints.etcd)
          .replaceAll('127.0.0.1:2181', endpoints.zookeeper)
          .replaceAll('127.0.0.1:6379', endpoints.redis)
          .replaceAll('127.0.0.1:8500', endpoints.consul)
          .replaceAll("'locks.db'", JSON.stringify(join(scratch, 'locks.db')));
        await runExample(page, served);
      }).timeout(70_000);
    }
  });
}
