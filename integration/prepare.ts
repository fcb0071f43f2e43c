// Installs missing programs before the first test starts, so that no test has to wait for the installation:
// prepare.ts [long]
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { FakeTime } from './chaos/faketime.ts';
import { buildNamespaces } from '@queuelock/harness/clusters/namespaces';
import { compileCurator } from './interop/curator/curator.ts';
import { participants } from './interop/programs.ts';
import { startConsul, startEtcd, startRedis, startZooKeeper } from '@queuelock/harness/services';
import { startNewerEtcd } from '@queuelock/harness/services/etcd-process';
import { startNewerRedis } from '@queuelock/harness/services/redis-process';
import { HTTP2_PROXY_NAMES, startHttp2Proxy } from '@queuelock/harness/services/http2-proxy';
import { findChromium } from '@queuelock/harness/services/chromium';
import { installPackages } from '@queuelock/harness/services/install';
import { startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { startPostgres } from '@queuelock/harness/services/postgres-process';
import { startPgBouncer } from '@queuelock/harness/services/pgbouncer-process';
import {
  GATE_PROGRAMS,
  howToGet,
  LONG_PROGRAMS,
  OPTIONAL_PROGRAMS,
  type Program,
} from '@queuelock/harness/services/prepared';
import { NotHere } from '@queuelock/harness/services/service';

const require = createRequire(import.meta.url);

/**
 * Checks the npm package zookeeper, which is compiled when it is installed. Without a compiler, the
 * installation fails silently.
 */
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

async function startAllProxies(): Promise<void> {
  const server = await startEtcd({ way: 'process' });
  try {
    for (const name of HTTP2_PROXY_NAMES) await (await startHttp2Proxy(name, server)).stop();
  } finally {
    await server.stop();
  }
}

async function linkNamespaces(): Promise<void> {
  const network = await buildNamespaces({ usual: [2379] }, 1);
  await network.stop();
}

/**
 * For each program that tests need, a function that starts and stops it. Starting it installs what is
 * missing.
 */
const STARTS: Readonly<Record<Program, () => Promise<unknown>>> = {
  'the compiled ZooKeeper client': compileAddon,
  etcd: async () => (await startEtcd()).stop(),
  ZooKeeper: async () => (await startZooKeeper()).stop(),
  Redis: async () => (await startRedis()).stop(),
  PostgreSQL: async () => (await startPostgres()).stop(),
  Consul: async () => (await startConsul()).stop(),
  MariaDB: async () => (await startMariaDb()).stop(),
  Curator: async () => (await compileCurator()).remove(),
  kazoo: () => participants.Python(),
  PgBouncer: async () => {
    const server = await startPostgres();
    try {
      await (await startPgBouncer(server)).stop();
    } finally {
      await server.stop();
    }
  },
  Go: () => participants.Go(),
  "Consul's Go client": () => participants['Go, Consul'](),
  Chromium: findChromium,
  libfaketime: findFakeTime,
  'network namespaces': linkNamespaces,
  'etcd 3.5': async () => (await startNewerEtcd()).stop(),
  'Redis 8': async () => (await startNewerRedis('redis-server')).stop(),
  Valkey: async () => (await startNewerRedis('valkey-server')).stop(),
  'HTTP/2 proxies': startAllProxies,
};

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Starts and stops a program. Returns whether it is ready for the tests. */
async function prepare(program: Program): Promise<boolean> {
  const begun = performance.now();
  try {
    await STARTS[program]();
    console.log(`${program} is here (${String(Math.round(performance.now() - begun))} ms)`);
    return true;
  } catch (error) {
    if (!(error instanceof NotHere)) {
      console.error(`BROKEN ${program}: it is here, and does not start: ${messageOf(error)}`);
      return false;
    }
    const isOptional = OPTIONAL_PROGRAMS.includes(program);
    const advice = isOptional ? 'its tests are skipped' : howToGet(program);
    console.error(`MISSING ${program}: ${error.message.split('\n')[0] ?? ''}; ${advice}`);
    return isOptional;
  }
}

const programs = process.argv.includes('long') ? LONG_PROGRAMS : GATE_PROGRAMS;
for (const program of programs) {
  if (!(await prepare(program))) process.exitCode = 1;
}
