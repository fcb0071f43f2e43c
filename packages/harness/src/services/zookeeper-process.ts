import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { routeTo, type Route } from './endpoint.ts';
import { zkFourLetter } from './four-letter.ts';
import { installPackages } from './install.ts';
import { assertPrepared } from './prepared.ts';
import { findProgram, firstExecutable, isReadable } from './programs.ts';
import type { Command } from './child.ts';
import { startProcess, type Place } from './server-process.ts';
import type { ProcessService } from './service.ts';

/**
 * Lines of zoo.cfg (`{ tickTime: 500, syncLimit: 5, minSessionTimeout: 1000 }`). Names that start with `znode.`, `zookeeper.` or `jute.`
 * are Java system properties (`znode.container.checkIntervalMs`).
 */
export type ZooKeeperSettings = Readonly<Record<string, string | number | boolean>>;

const OURS =
  /^(dataDir|dataLogDir|clientPort|clientPortAddress|secureClientPort|server\..*|admin\..*|4lw\..*)$/;
const DEFAULTS: ZooKeeperSettings = { tickTime: 500, initLimit: 10, syncLimit: 5, maxClientCnxns: 0 };

/** Throws on settings for addresses, directories and commands, because the start of the server sets them itself. */
export function checkZooKeeperSettings(settings: ZooKeeperSettings): void {
  for (const [name, value] of Object.entries(settings)) {
    if (!/^[\w.-]+$/.test(name)) throw new TypeError(`settings: "${name}" is no name of a ZooKeeper setting`);
    if (OURS.test(name)) throw new TypeError(`settings: "${name}" is set by the start itself; choose others`);
    if (/[\r\n]/.test(String(value)))
      throw new TypeError(`settings: the value of "${name}" has a line break`);
  }
}

/**
 * Converts settings to the text of zoo.cfg and the Java properties.
 * @param rest the lines for addresses and directories
 */
export function zooKeeperConfig(
  settings: ZooKeeperSettings,
  rest: Readonly<Record<string, string | number>>,
): { file: string; properties: string[] } {
  const fixed = { 'admin.enableServer': 'false', '4lw.commands.whitelist': '*' };
  const all = Object.entries({ ...DEFAULTS, ...settings, ...rest, ...fixed });
  const isProperty = ([name]: [string, unknown]): boolean => /^(znode|zookeeper|jute)\./.test(name);
  return {
    file: all
      .filter((entry) => !isProperty(entry))
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
    properties: all.filter(isProperty).map(([name, value]) => `-D${name}=${value}`),
  };
}

/** Returns whether the programs for `startZooKeeperProcess` are available. */
export async function hasZooKeeper(): Promise<boolean> {
  return (await findLauncher()) !== undefined;
}

/** Installs Debian's packages of ZooKeeper, and Java if there is none. */
export async function installZooKeeper(): Promise<void> {
  await installPackages(['zookeeper', ...((await findJava()) ? [] : ['default-jre-headless'])]);
}

// Java options for a test server that runs only for seconds. Highly optimized code and a heap of many regions
// would cost more time than they save.
export const SHORT_LIVED: readonly string[] = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/**
 * Starts ZooKeeper as a child process. With `isMeasured`, Java runs with its default options, as measurements
 * need.
 */
export function startZooKeeperProcess(
  settings: ZooKeeperSettings,
  isMeasured: boolean,
): Promise<ProcessService> {
  const ensemble = { lines: {}, javaOptions: isMeasured ? [] : SHORT_LIVED };
  return startProcess({
    name: 'zookeeper',
    ports: 1,
    command: (place) => zooKeeperCommand(place, settings, ensemble),
    probe: probeZooKeeper,
  });
}

/**
 * Additions to the settings of a ZooKeeper server: lines of zoo.cfg, such as those of an ensemble, and Java
 * options.
 */
export interface Ensemble {
  /** Lines to add to the server's file zoo.cfg. */
  readonly lines: Readonly<Record<string, string | number>>;
  readonly javaOptions: readonly string[];
}

/** Writes the file zoo.cfg. Returns the command that starts a ZooKeeper server with that file. */
export async function zooKeeperCommand(
  place: Place,
  settings: ZooKeeperSettings,
  { lines, javaOptions }: Ensemble,
): Promise<Command> {
  assertPrepared('ZooKeeper');
  const launcher = await findLauncher();
  if (launcher === undefined)
    throw new Error('zookeeper: neither java with zookeeper.jar nor zkServer.sh was found');
  const { file, properties } = zooKeeperConfig(settings, {
    dataDir: place.data,
    clientPortAddress: place.host,
    clientPort: place.ports[0]!,
    ...lines,
  });
  const config = join(place.directory, 'zoo.cfg');
  await writeFile(config, file);
  return launcher(config, ['-Xmx512m', '-Dzookeeper.jmx.log4j.disable=true', ...javaOptions, ...properties]);
}

type Launcher = (config: string, javaOptions: readonly string[]) => Command;

async function findLauncher(): Promise<Launcher | undefined> {
  return (await scriptLauncher()) ?? (await debianLauncher());
}

// Returns the command for ZooKeeper of Debian, whose jar names its dependencies in its manifest. slf4j-simple
// prints the log to stderr.
async function debianLauncher(): Promise<Launcher | undefined> {
  const jars = ['/usr/share/java/zookeeper.jar', '/usr/share/java/slf4j-simple.jar'];
  const java = await findJava();
  if (java === undefined || !(await Promise.all(jars.map(isReadable))).every(Boolean)) return undefined;
  const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
  return (config, options) => ({
    program: java,
    args: [...options, '-cp', jars.join(delimiter), main, config],
  });
}

// Returns the command for the start script of the Apache distribution. In the foreground the script replaces
// itself by java, so that its pid is that of the server.
async function scriptLauncher(): Promise<Launcher | undefined> {
  const home = process.env['ZOOKEEPER_HOME'];
  const script =
    (await findProgram('zkServer.sh')) ?? (home && (await firstExecutable([join(home, 'bin/zkServer.sh')])));
  if (!script) return undefined;
  return (config, options) => ({
    program: script,
    args: ['start-foreground', config],
    env: { JMXDISABLE: 'true', ZOO_LOG_DIR: join(config, '..'), SERVER_JVMFLAGS: options.join(' ') },
  });
}

export async function findJava(): Promise<string | undefined> {
  const home = process.env['JAVA_HOME'];
  return (home ? await firstExecutable([join(home, 'bin/java')]) : undefined) ?? (await findProgram('java'));
}

// Compares the data directory that the server reports, to detect an unrelated ZooKeeper server on the same
// port.
async function probeZooKeeper(place: Place): Promise<string> {
  const endpoint = `127.0.0.1:${place.ports[0]}`;
  const version = await zooKeeperVersion(endpoint);
  const config = await zkFourLetter(endpoint, 'conf');
  if (!config.includes(place.data)) throw new Error(`another ZooKeeper answers on ${endpoint}`);
  return version;
}

// Milliseconds for which a request to a ZooKeeper server waits for the response. A server that is just
// starting may never respond to an early request.
const RESPONSE_WITHIN_MS = 1_000;

/** Resolves with the server's version. Rejects as long as the server does not serve requests. */
export async function zooKeeperVersion(endpoint: string | Route): Promise<string> {
  const response = await zkFourLetter(endpoint, 'srvr', RESPONSE_WITHIN_MS);
  const version = /Zookeeper version: (\d+(?:\.\d+)*)/i.exec(response)?.[1];
  const { host, port } = routeTo(endpoint);
  if (version === undefined)
    throw new Error(`ZooKeeper on ${host}:${port} answers to srvr: ${response.trim()}`);
  return version;
}
