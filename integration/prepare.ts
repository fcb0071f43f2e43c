// Installs what the tests need and this machine lacks, before the first test's clock runs: prepare.ts [long]
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { FakeTime } from './chaos/faketime.ts';
import { buildNamespaces } from '@queuelock/harness/clusters/namespaces';
import { compileCurator } from './interop/curator/curator.ts';
import { participants } from './interop/programs.ts';
import { startEtcd, startRedis, startZooKeeper } from '@queuelock/harness/services';
import { findChromium } from '@queuelock/harness/services/chromium';
import { installPackages } from '@queuelock/harness/services/install';
import { startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { startPostgres } from '@queuelock/harness/services/postgres-process';
import { NotHere } from '@queuelock/harness/services/service';

const require = createRequire(import.meta.url);

/** The ZooKeeper client is compiled when it is installed, which without a compiler it silently is not. */
async function compileAddon(): Promise<void> {
  const isHere = (): boolean => {
    try {
      require('zookeeper');
      return true;
    } catch {
      return false;
    }
  };
  if (isHere()) return;
  await installPackages(['g++', 'make', 'python3']);
  const cwd = dirname(require.resolve('zookeeper/package.json'));
  await promisify(execFile)('npm', ['run', 'install'], { cwd, maxBuffer: 64 * 1024 * 1024 });
}

async function findFakeTime(): Promise<void> {
  await FakeTime.find();
}

interface Need {
  readonly name: string;
  readonly start: () => Promise<unknown>;
}

/** One of each, to see that it can be had; without them no tests. */
const NEEDED: readonly Need[] = [
  { name: 'the compiled ZooKeeper client', start: compileAddon },
  { name: 'etcd', start: async () => (await startEtcd()).stop() },
  { name: 'ZooKeeper', start: async () => (await startZooKeeper()).stop() },
];

async function linkNamespaces(): Promise<void> {
  const network = await buildNamespaces({ usual: [2379] }, 1);
  await network.stop();
}

/** Tests with these say themselves what is missing if it cannot be had. */
const WANTED: readonly Need[] = [
  { name: 'Curator', start: async () => (await compileCurator()).remove() },
  { name: 'participants in Python', start: () => participants.Python() },
];

/** Likewise, of the long run. */
const WANTED_LONG: readonly Need[] = [
  { name: 'network namespaces', start: linkNamespaces },
  { name: 'participants in Go', start: () => participants.Go() },
  { name: 'libfaketime', start: findFakeTime },
  { name: 'Redis', start: async () => (await startRedis()).stop() },
  { name: 'PostgreSQL', start: async () => (await startPostgres()).stop() },
  { name: 'MariaDB', start: async () => (await startMariaDb()).stop() },
  { name: 'Chromium', start: findChromium },
];

async function have({ name, start }: Need): Promise<void> {
  const begun = performance.now();
  await start();
  console.log(`${name} is here (${String(Math.round(performance.now() - begun))} ms)`);
}

const wanted = process.argv.includes('long') ? [...WANTED, ...WANTED_LONG] : WANTED;
try {
  for (const need of NEEDED) await have(need);
  for (const need of wanted) {
    await have(need).catch((error: unknown) => {
      if (!(error instanceof NotHere)) throw error;
      console.log(`${need.name}: ${error.message}`);
    });
  }
} catch (error) {
  if (!(error instanceof NotHere)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
