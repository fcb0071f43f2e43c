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
export type RedisSettings = Readonly<Record<string, string>>;

const OURS = /^(bind|port|dir|daemonize|unixsocket|cluster-config-file)$/;
const PROGRAMS = ['redis-server', 'valkey-server'] as const;

/** Throws on settings that decide where the server lives: those are the fixture's. */
export function checkRedisSettings(settings: RedisSettings): void {
  for (const name of Object.keys(settings)) {
    if (OURS.test(name)) throw new TypeError(`settings: "${name}" is set by the start itself; choose others`);
  }
}

/** Whether `startRedisProcess` has what it needs. */
export async function hasRedis(): Promise<boolean> {
  return (await findServer()) !== undefined;
}

/** Installs Debian's package of it. */
export async function installRedis(): Promise<void> {
  await installPackages(['redis-server']);
}

/** A Redis of this machine, or a Valkey. It keeps nothing over a restart unless the settings say so. */
export function startRedisProcess(settings: RedisSettings): Promise<ProcessService> {
  return startProcess(redisProgram(settings));
}

/** A Sentinel of this machine that watches this server as `locks`, alone, and promotes a replica when it has been silent for a second. */
export function startRedisSentinel({ endpoint }: Pick<ProcessService, 'endpoint'>): Promise<ProcessService> {
  const { host, port } = splitEndpoint(endpoint);
  return startProcess({
    ...redisProgram({}),
    name: 'redis-sentinel',
    async command(place) {
      const program = await findServer();
      if (program === undefined) throw new NotHere('redis-server is not installed');
      // It writes to its configuration what it has found out, and reads that again after a restart.
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

/** Asks a server at this address which version it is. */
export async function redisVersion(endpoint: string): Promise<string> {
  const said = await askRedis(endpoint, 'INFO server');
  const [, version] = /^redis_version:(\S+)/m.exec(said) ?? [];
  if (version === undefined) throw new Error(`redis on ${endpoint} answers ${said}`);
  return version;
}

/** The first piece of what a server answers to a command, as it comes over the wire. */
async function askRedis(endpoint: string, command: string): Promise<string> {
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

/** A Redis 8 or a Valkey, Debian 13's. */
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
  return Object.entries(lines).flatMap(([name, value]) => [`--${name}`, value]);
}

async function findServer(): Promise<string | undefined> {
  assertPrepared('Redis');
  for (const name of PROGRAMS) {
    const program = await findProgram(name);
    if (program !== undefined) return program;
  }
  return undefined;
}
