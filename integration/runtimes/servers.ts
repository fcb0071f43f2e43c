// The classes that act as a store's operator are imported by path. They are in the tests of other packages,
// and no package exports tests.
/* eslint-disable no-restricted-imports */
import { Operator as ConsulOperator } from '../../packages/consul/test/operator.ts';
import { Operator as EtcdOperator } from '../../packages/etcd/test/operator.ts';
import { Operator as MySqlOperator } from '../../packages/mysql/test/operator.ts';
import { Operator as RedisOperator } from '../../packages/redis/test/operator.ts';
import { Bench as SqliteBench } from '../../packages/sqlite/test/bench.ts';
import { SINGLE } from '../../packages/zookeeper/test/bench.ts';
import { asOperator } from '../../packages/zookeeper/test/operator.ts';
/* eslint-enable no-restricted-imports */
import { Client } from 'pg';
import { startConsul, startEtcd, startRedis, startZooKeeper } from '@queuelock/harness/services';
import { startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import type { Job } from './job.ts';

/** A server for one job: its address and options for the program, and the actions of an operator on it. */
export interface Site {
  readonly job: Pick<Job, 'store' | 'options' | 'ttlMs' | 'expiryGranularityMs' | 'proxied'>;
  evict(key: string): Promise<void>;
  entries(queue: string): Promise<readonly unknown[]>;
  stop(): Promise<void>;
}

/** A store with its client library, named as in the table of COMPATIBILITY.md. */
export interface Store {
  readonly name: string;
  /** Name of the package that contains the store's backend. */
  readonly package: string;
  start(): Promise<Site>;
}

const PREFIX = 'runtimes';

async function etcd(transport: 'http2' | 'socket' | 'etcd3'): Promise<Site> {
  const server = await startEtcd();
  const operator = new EtcdOperator(server.endpoint);
  const prefix = `${PREFIX}/`;
  return {
    job: {
      store: 'etcd',
      options: { hosts: server.endpoint, transport, prefix, requestTimeoutMs: 5_000 },
      ttlMs: 4_000,
      expiryGranularityMs: 10_000,
    },
    evict: (key) => operator.remove(key),
    entries: (queue) => operator.keysUnder(`${prefix}${queue}/`),
    async stop() {
      operator.close();
      await server.stop();
    },
  };
}

async function zooKeeper(): Promise<Site> {
  const server = await startZooKeeper();
  const chroot = `/${PREFIX}`;
  return {
    job: {
      store: 'zookeeper',
      options: { chroot, ...SINGLE },
      ttlMs: 4 * SINGLE.tickTimeMs,
      expiryGranularityMs: 20 * SINGLE.tickTimeMs,
      proxied: server.endpoint,
    },
    async evict(key) {
      await asOperator(server.endpoint, (zk) => zk.delete(key));
    },
    entries: async (queue) =>
      (await asOperator(server.endpoint, (zk) => zk.children(`${chroot}/${queue}`))) ?? [],
    stop: () => server.stop(),
  };
}

async function redis(): Promise<Site> {
  const server = await startRedis();
  const operator = await RedisOperator.connect(server.endpoint, PREFIX);
  return {
    job: {
      store: 'redis',
      options: { url: `redis://${server.endpoint}`, prefix: PREFIX },
      ttlMs: 1_500,
      expiryGranularityMs: 8_000,
    },
    evict: (key) => operator.evict(key),
    entries: (queue) => operator.entries(queue),
    async stop() {
      await operator.close();
      await server.stop();
    },
  };
}

async function postgres(): Promise<Site> {
  const server = await startPostgres();
  const url = postgresUrl(server);
  const operator = new Client({ connectionString: url });
  await operator.connect();
  const stored = (queue: string): string => queue.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
  return {
    job: {
      store: 'postgres',
      options: { url, connections: 2 },
      ttlMs: 2_000,
      expiryGranularityMs: 8_000,
    },
    async evict(key) {
      const [, queue = '', ord] = /^(.*)\/(\d+)$/s.exec(key) ?? [];
      await operator.query('select queuelock.evict($1, $2)', [stored(queue), ord]);
    },
    entries: async (queue) =>
      (await operator.query<object>('select ord from queuelock.entry where queue = $1', [stored(queue)]))
        .rows,
    async stop() {
      await operator.end();
      await server.stop();
    },
  };
}

async function mysql(): Promise<Site> {
  const server = await startMariaDb();
  const operator = await MySqlOperator.connect(server.endpoint, PREFIX);
  return {
    job: {
      store: 'mysql',
      options: { url: `mysql://root@${server.endpoint}/${PREFIX}` },
      ttlMs: 1_500,
      expiryGranularityMs: 8_000,
    },
    evict: (key) => operator.evict(key),
    entries: (queue) => operator.entries(queue),
    async stop() {
      await operator.close();
      await server.stop();
    },
  };
}

async function consul(): Promise<Site> {
  const server = await startConsul();
  const operator = new ConsulOperator(server.endpoint);
  const prefix = `${PREFIX}/`;
  return {
    job: {
      store: 'consul',
      options: { hosts: server.endpoint, prefix, minTtlMs: 100 },
      ttlMs: 1_500,
      expiryGranularityMs: 10_000,
    },
    evict: (key) => operator.remove(key),
    // Uses the name of the queue as part of the Consul key. The names in the conformance suite need no
    // encoding in keys.
    entries: (queue) => operator.keysUnder(`${prefix}queues/${queue}/`),
    stop: () => server.stop(),
  };
}

async function sqlite(): Promise<Site> {
  const bench = new SqliteBench();
  return {
    job: {
      store: 'sqlite',
      options: { file: bench.file },
      ttlMs: 1_500,
      expiryGranularityMs: 8_000,
    },
    evict: (key) => bench.evict(key),
    entries: (queue) => bench.entries(queue),
    stop: () => bench.close(),
  };
}

/** Returns the memory store, which the program on another runtime creates itself, since it has no server. */
async function memory(): Promise<Site> {
  return {
    job: { store: 'memory', ttlMs: 1_500, expiryGranularityMs: 5_000 },
    evict: () => Promise.reject(new Error('the program has its own store')),
    entries: () => Promise.reject(new Error('the program has its own store')),
    stop: () => Promise.resolve(),
  };
}

export const STORES: readonly Store[] = [
  { name: 'memory', package: 'memory', start: memory },
  { name: 'etcd, `http2`', package: 'etcd', start: () => etcd('http2') },
  { name: 'etcd, `socket`', package: 'etcd', start: () => etcd('socket') },
  { name: 'etcd, `etcd3`', package: 'etcd', start: () => etcd('etcd3') },
  { name: 'ZooKeeper, `wire`', package: 'zookeeper', start: zooKeeper },
  { name: 'Redis', package: 'redis', start: redis },
  { name: 'PostgreSQL', package: 'postgres', start: postgres },
  { name: 'MariaDB', package: 'mysql', start: mysql },
  { name: 'Consul', package: 'consul', start: consul },
  { name: 'SQLite', package: 'sqlite', start: sqlite },
];
