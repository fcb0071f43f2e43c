/**
 * Starts and stops real servers for tests. Each start tries, in this order:
 *
 * 1. servers that the environment names (QUEUELOCK_ETCD_ENDPOINTS="127.0.0.1:2379,…", QUEUELOCK_ZOOKEEPER="host:port,…",
 *    QUEUELOCK_REDIS="host:port", QUEUELOCK_CONSUL="host:port"), unless the caller needs custom settings, which such a server would not have;
 * 2. programs of this machine, as child processes;
 * 3. the same programs after installing Debian's packages, when this process is root and apt-get exists;
 * 4. containers (of etcd and ZooKeeper), whose library is loaded only then (QUEUELOCK_ETCD_IMAGE, QUEUELOCK_ZOOKEEPER_IMAGE
 *    choose the images).
 *
 * If none is available, the start rejects with a line that names what to install. The option `way` forces one of them.
 */
import {
  checkConsulSettings,
  consulVersion,
  hasConsul,
  installConsul,
  startConsulProcess,
  type ConsulSettings,
} from './services/consul-process.ts';
import {
  checkEtcdFlags,
  etcdVersion,
  hasEtcd,
  installEtcd,
  startEtcdProcess,
  type EtcdFlags,
} from './services/etcd-process.ts';
import {
  checkRedisSettings,
  hasRedis,
  installRedis,
  redisVersion,
  startRedisProcess,
  type RedisSettings,
} from './services/redis-process.ts';
import { NotHere, type ServiceOf, type Way } from './services/service.ts';
import { shareService } from './services/shared.ts';
import { startFirstAvailable } from './services/server-sources.ts';
import {
  checkZooKeeperSettings,
  hasZooKeeper,
  installZooKeeper,
  startZooKeeperProcess,
  zooKeeperVersion,
  type ZooKeeperSettings,
} from './services/zookeeper-process.ts';

export { zkFourLetter } from './services/four-letter.ts';
export { etcdMetrics, sumOf } from './services/metrics.ts';
export { recordRanAgainst, stopShared } from './services/shared.ts';

/**
 * A running etcd server for tests. `way` is `endpoints` (an external server, which supports no faults),
 * `process` or `container`.
 */
export type EtcdService = ServiceOf[Way];
/**
 * A running ZooKeeper server for tests. `way` is `endpoints` (an external server, which supports no faults),
 * `process` or `container`.
 */
export type ZooKeeperService = ServiceOf[Way];
/**
 * A running Redis server for tests. `way` is `endpoints` (an external server, which supports no faults),
 * `process` or `container`.
 */
export type RedisService = ServiceOf[Way];
/**
 * A running Consul server for tests. `way` is `endpoints` (an external server, which supports no faults),
 * `process` or `container`.
 */
export type ConsulService = ServiceOf[Way];

export interface EtcdOptions<W extends Way = Way> {
  /**
   * Requires an external server (`endpoints`), a child process or a container. Default: the first of these
   * that is available.
   */
  readonly way?: W;
  /** Command-line flags of the etcd server; see `EtcdFlags`. */
  readonly flags?: EtcdFlags;
}

export interface ZooKeeperOptions<W extends Way = Way> {
  /**
   * Requires an external server (`endpoints`), a child process or a container. Default: the first of these
   * that is available.
   */
  readonly way?: W;
  /** Lines of zoo.cfg and Java properties, see ZooKeeperSettings. Default of tickTime: 500. */
  readonly settings?: ZooKeeperSettings;
  /**
   * Whether Java runs with its default options, as for measurements. By default Java compiles with less optimization, which suits a server that runs
   * for seconds. Applies only to a server that is a process.
   */
  readonly isMeasured?: boolean;
}

export interface RedisOptions<W extends Way = Way> {
  /**
   * Requires an external server (`endpoints`) or a child process. Default: the first of these that is
   * available.
   */
  readonly way?: W;
  /** Lines of redis.conf, see RedisSettings. By default nothing survives a restart. */
  readonly settings?: RedisSettings;
}

export interface ConsulOptions<W extends Way = Way> {
  /**
   * Requires an external server (`endpoints`) or a child process. Default: the first of these that is
   * available.
   */
  readonly way?: W;
  /**
   * Settings of the agent's configuration file, which replace defaults of the harness. By default
   * `session_ttl_min` is 100 ms.
   */
  readonly settings?: ConsulSettings;
}

/** Starts one etcd server; resolves when it responds to a linearizable read. */
export async function startEtcd<W extends Way = Way>(options: EtcdOptions<W> = {}): Promise<ServiceOf[W]> {
  const flags = options.flags ?? {};
  checkEtcdFlags(flags);
  return startFirstAvailable(options.way, {
    name: 'etcd',
    variable: 'QUEUELOCK_ETCD_ENDPOINTS',
    debian: 'etcd-server etcd-client',
    custom: Object.keys(flags).length > 0,
    version: etcdVersion,
    isHere: hasEtcd,
    install: installEtcd,
    startProcess: () => startEtcdProcess(flags),
    startContainer: async () => (await import('./services/containers.ts')).startEtcdContainer(flags),
  });
}

/** Starts one standalone ZooKeeper server; resolves when it serves requests. */
export async function startZooKeeper<W extends Way = Way>(
  options: ZooKeeperOptions<W> = {},
): Promise<ServiceOf[W]> {
  const settings = options.settings ?? {};
  checkZooKeeperSettings(settings);
  return startFirstAvailable(options.way, {
    name: 'ZooKeeper',
    variable: 'QUEUELOCK_ZOOKEEPER',
    debian: 'zookeeper default-jre-headless',
    custom: Object.keys(settings).length > 0,
    version: zooKeeperVersion,
    isHere: hasZooKeeper,
    install: installZooKeeper,
    startProcess: () => startZooKeeperProcess(settings, options.isMeasured ?? false),
    startContainer: async () => (await import('./services/containers.ts')).startZooKeeperContainer(settings),
  });
}

/** Starts one Redis server; resolves when it responds. */
export async function startRedis<W extends Way = Way>(options: RedisOptions<W> = {}): Promise<ServiceOf[W]> {
  const settings = options.settings ?? {};
  checkRedisSettings(settings);
  return startFirstAvailable(options.way, {
    name: 'Redis',
    variable: 'QUEUELOCK_REDIS',
    debian: 'redis-server',
    custom: Object.keys(settings).length > 0,
    version: redisVersion,
    isHere: hasRedis,
    install: installRedis,
    startProcess: () => startRedisProcess(settings),
    startContainer: () => Promise.reject(new NotHere('there is no image of it')),
  });
}

/** Starts one Consul server; resolves when it is the leader and serves requests. */
export async function startConsul<W extends Way = Way>(
  options: ConsulOptions<W> = {},
): Promise<ServiceOf[W]> {
  const settings = options.settings ?? {};
  checkConsulSettings(settings);
  return startFirstAvailable(options.way, {
    name: 'Consul',
    variable: 'QUEUELOCK_CONSUL',
    debian: 'consul, of Debian 11',
    custom: Object.keys(settings).length > 0,
    version: consulVersion,
    isHere: hasConsul,
    install: installConsul,
    startProcess: () => startConsulProcess(settings),
    startContainer: () => Promise.reject(new NotHere('there is no image of it')),
  });
}

/**
 * Returns the etcd server that all test files of this process share, started on first use with default settings. Use unique queue names and apply no
 * faults to the server. `what` names the suite in the file QUEUELOCK_RAN_AGAINST; see `recordRanAgainst`.
 */
export const sharedEtcd: (what: string) => Promise<EtcdService> = shareService('etcd', () => startEtcd());

/** Returns the ZooKeeper server that all test files of this process share; see `sharedEtcd`. */
export const sharedZooKeeper: (what: string) => Promise<ZooKeeperService> = shareService('ZooKeeper', () =>
  startZooKeeper(),
);

/** Returns the Redis server that all test files of this process share; see `sharedEtcd`. */
export const sharedRedis: (what: string) => Promise<RedisService> = shareService('Redis', () => startRedis());

/** Returns the Consul server that all test files of this process share; see `sharedEtcd`. */
export const sharedConsul: (what: string) => Promise<ConsulService> = shareService('Consul', () =>
  startConsul(),
);
