/**
 * The list of programs other than Node that tests start, with the test runs (such as the gate) that need
 * them. `integration/prepare.ts` installs the programs of a test run before its first test. In such a run, the
 * start of a program that was not prepared fails, even on a machine that has the program.
 */

/** The programs that tests start, each with the Debian packages to install. */
const PROGRAMS = {
  'the compiled ZooKeeper client': 'g++ make python3',
  etcd: 'etcd-server etcd-client',
  ZooKeeper: 'zookeeper default-jre-headless',
  Redis: 'redis-server',
  PostgreSQL: 'postgresql',
  Consul: 'consul',
  MariaDB: 'mariadb-server',
  Curator: 'libcurator-recipes-java libslf4j-java default-jdk-headless',
  kazoo: 'python3 python3-kazoo',
  PgBouncer: 'pgbouncer',
  Go: 'golang-go golang-etcd-server-dev etcd-client',
  "Consul's Go client": 'golang-github-hashicorp-consul-dev',
  Chromium: 'chromium',
  libfaketime: 'libfaketime',
  'network namespaces': 'iproute2 iptables util-linux',
  'etcd 3.5': 'etcd-server',
  'Redis 8': 'redis-server',
  Valkey: 'valkey-server',
  'HTTP/2 proxies': 'nginx haproxy nghttp2-proxy caddy apache2-bin',
} as const;

/** Programs that always come from Debian 13; see `trixie.ts`. */
const OF_DEBIAN_13: ReadonlySet<string> = new Set(['etcd 3.5', 'Redis 8', 'Valkey']);
/** The programs that only Debian 11 has; see `consul-process.ts`. */
const OF_DEBIAN_11: ReadonlySet<string> = new Set(['Consul', "Consul's Go client"]);

/** Name of a program that tests start. */
export type Program = keyof typeof PROGRAMS;

/** Programs that the gate needs: the fast tests that each change must pass. */
export const GATE_PROGRAMS: readonly Program[] = [
  'the compiled ZooKeeper client',
  'etcd',
  'ZooKeeper',
  'Redis',
  'PostgreSQL',
  'MariaDB',
  'Consul',
  'Curator',
  'kazoo',
];

/** Programs that the long run needs: all of them. */
export const LONG_PROGRAMS = Object.keys(PROGRAMS) as readonly Program[];

/**
 * Programs that need certain kernel features or rights. On a machine without these, the tests that start such
 * a program are skipped, and the reason is shown.
 */
export const OPTIONAL_PROGRAMS: readonly Program[] = ['libfaketime', 'network namespaces'];

const VARIABLE = 'QUEUELOCK_PREPARED';

/**
 * Returns whether `integration/prepare.ts` has installed the programs of this run. From then on nothing may
 * be installed.
 */
export function isPrepared(): boolean {
  return process.env[VARIABLE] !== undefined;
}

/** Returns the environment variables of a run of tests whose programs have been prepared. */
export function preparedEnv(programs: readonly Program[]): Record<string, string> {
  return { [VARIABLE]: programs.join(',') };
}

/** Returns the instruction by which a user gets the program on a machine that lacks it. */
export function howToGet(program: Program): string {
  const release = OF_DEBIAN_13.has(program) ? 'trixie' : OF_DEBIAN_11.has(program) ? 'bullseye' : undefined;
  if (release === undefined) return `apt-get install ${PROGRAMS[program]}`;
  return `it is downloaded with apt-get from http://deb.debian.org/debian (${release}: ${PROGRAMS[program]})`;
}

/**
 * Checks that a program is among the programs that were prepared for this run of tests. Does nothing in a run
 * without preparation.
 * @throws Error when the run has not prepared the program, even if this machine has it
 */
export function assertPrepared(program: Program): void {
  const prepared = process.env[VARIABLE];
  if (prepared === undefined || prepared.split(',').includes(program)) return;
  throw new Error(
    `this test starts ${program}, which this run does not prepare: a machine without it would fail. ` +
      'Add it to GATE_PROGRAMS in packages/harness/src/services/prepared.ts, or move the test to the long run',
  );
}
