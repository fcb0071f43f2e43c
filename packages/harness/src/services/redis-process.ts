import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { installPackages } from './install.ts';
import { assertPrepared } from './prepared.ts';
import { findProgram } from './programs.ts';
import { startProcess, type Place, type ServerProgram } from './server-process.ts';
import { NotHere, type ProcessService } from './service.ts';
import { splitEndpoint } from './endpoint.ts';
import { trixieCommand } from './trixie.ts';

/** Lines of redis.conf: `{ appendonly: 'yes', 'maxmemory-policy': 'noeviction' }`. */
export type RedisSettings = Readonly<Record<string, string | readonly string[]>>;

const OURS = /^(bind|port|dir|daemonize|unixsocket|cluster-config-file)$/;
const PROGRAMS = ['redis-server', 'valkey-server'] as const;

/** Throws on settings for addresses and directories, because the start of the server sets them itself. */
export function checkRedisSettings(settings: RedisSettings): void {
  for (const name of Object.keys(settings)) {
    if (OURS.test(name)) throw new TypeError(`settings: "${name}" is set by the start itself; choose others`);
  }
}

/** Returns whether the programs for `startRedisProcess` are available. */
export async function hasRedis(): Promise<boolean> {
  return (await findServer()) !== undefined;
}

/** Installs Debian's package of Redis. */
export async function installRedis(): Promise<void> {
  await installPackages(['redis-server']);
}

/** Starts Redis or Valkey. By default the data does not survive a restart. */
export function startRedisProcess(settings: RedisSettings): Promise<ProcessService> {
  return startProcess(redisProgram(settings));
}

/**
 * Starts a Sentinel that monitors this server under the name `locks`, with a quorum of one. It promotes a
 * replica when the server has been silent for a second.
 */
export function startRedisSentinel({ endpoint }: Pick<ProcessService, 'endpoint'>): Promise<ProcessService> {
  const { host, port } = splitEndpoint(endpoint);
  return startProcess({
    ...redisProgram({}),
    name: 'redis-sentinel',
    async command(place) {
      const program = await findServer();
      if (program === undefined) throw new NotHere('redis-server is not installed');
      // Keeps an existing configuration: Sentinel writes the servers that it has found into the file, and
      // reads them after a restart.
      const configuration = join(place.data, 'sentinel.conf');
      if (!existsSync(configuration)) {
        const lines = [
          `bind ${place.host}`,
          `port ${String(place.ports[0])}`,
          `dir ${place.data}`,
          `sentinel monitor locks ${host} ${String(port)} 1`,
          'sentinel down-after-milliseconds locks 1000',
          'sentinel failover-timeout locks 10000',
        ];
        await writeFile(configuration, lines.join('\n'));
      }
      return { program, args: [configuration, '--sentinel'] };
    },
  });
}

/** Resolves with the version of the Redis or Valkey server at the address `endpoint`. */
export async function redisVersion(endpoint: string): Promise<string> {
  const output = await requestRedis(endpoint, 'INFO server');
  const [, version] = /^redis_version:(\S+)/m.exec(output) ?? [];
  if (version === undefined) throw new Error(`redis on ${endpoint} answers ${output}`);
  return version;
}

/** Sends a command to a Redis server. Resolves with the first piece of the raw response. */
async function requestRedis(endpoint: string, command: string): Promise<string> {
  const socket = connect(splitEndpoint(endpoint));
  socket.setTimeout(1_000, () => socket.destroy(new Error('redis does not answer')));
  try {
    await once(socket, 'connect');
    socket.write(`${command}\r\n`);
    return String(await once(socket, 'data'));
  } finally {
    socket.destroy();
  }
}

/** Starts Redis 8 or Valkey of Debian 13. */
export function startNewerRedis(program: 'redis-server' | 'valkey-server'): Promise<ProcessService> {
  return startProcess({
    ...redisProgram({}),
    command: (place) => {
      assertPrepared(program === 'redis-server' ? 'Redis 8' : 'Valkey');
      return trixieCommand(program, redisArgs(place, {}));
    },
  });
}

function redisProgram(settings: RedisSettings): ServerProgram {
  return {
    name: 'redis',
    ports: 1,
    async command(place) {
      const program = await findServer();
      if (program === undefined) throw new NotHere('redis-server is not installed');
      return { program, args: redisArgs(place, settings) };
    },
    probe: ({ host, ports }: Place) => redisVersion(`${host}:${String(ports[0])}`),
  };
}

function redisArgs({ host, data, ports }: Place, settings: RedisSettings): string[] {
  const lines = { bind: host, port: String(ports[0]), dir: data, save: '', appendonly: 'no', ...settings };
  return Object.entries(lines).flatMap(([name, value]) => [`--${name}`, ...[value].flat()]);
}

async function findServer(): Promise<string | undefined> {
  assertPrepared('Redis');
  for (const name of PROGRAMS) {
    const program = await findProgram(name);
    if (program !== undefined) return program;
  }
  return undefined;
}
