import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { archiveFolder, downloadInto, type DebianRelease } from './debian-archive.ts';
import { assertPrepared, isPrepared } from './prepared.ts';
import { firstExecutable, findProgram } from './programs.ts';
import { startProcess, type Place, type ServerProgram } from './server-process.ts';
import { NotHere, type ProcessService } from './service.ts';

/** Settings of the agent's configuration file, by their names there. */
export type ConsulSettings = Readonly<Record<string, unknown>>;

/** Debian 11, the last release with a package of Consul, and mirrors that have it. The program needs no libc newer than that of Debian 11. */
export const CONSUL_RELEASES: readonly DebianRelease[] = [
  'http://deb.debian.org/debian',
  'http://archive.debian.org/debian',
].map((mirror) => ({ suite: 'bullseye', mirror }));
const OURS = /^(data_dir|bind_addr|client_addr|ports|server|bootstrap.*|retry_join|node_name)$/;

/**
 * Default settings of the tests' servers. Consul's default of `session_ttl_min` is 10 s. The smaller one lets
 * a session end without a wait of 20 s. Consul's Raft uses the timing of a production server
 * (`raft_multiplier` 1).
 */
const USUAL: ConsulSettings = {
  session_ttl_min: '100ms',
  performance: { raft_multiplier: 1 },
  connect: { enabled: false },
  disable_update_check: true,
  leave_on_terminate: false,
  skip_leave_on_interrupt: true,
  log_level: 'warn',
};

/**
 * Checks that the settings name neither addresses nor directories.
 * @throws TypeError on settings of addresses and directories, which the start itself sets
 */
export function checkConsulSettings(settings: ConsulSettings): void {
  for (const name of Object.keys(settings)) {
    if (OURS.test(name)) throw new TypeError(`settings: "${name}" is set by the start itself; choose others`);
  }
}

/** Returns whether the programs for `startConsulProcess` are available. */
export async function hasConsul(): Promise<boolean> {
  return (await findConsul()) !== undefined;
}

/** Downloads Debian 11's package and unpacks it into a cache folder of this user. @throws {NotHere} when it cannot be downloaded */
export async function installConsul(): Promise<void> {
  if (isPrepared()) throw new NotHere('not downloaded before the tests');
  const failures: string[] = [];
  for (const release of CONSUL_RELEASES) {
    try {
      await downloadInto(archiveFolder(release), {
        ...release,
        packages: ['consul'],
        isWithDependencies: false,
      });
      return;
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      failures.push(`${release.mirror}: ${error.message}`);
    }
  }
  throw new NotHere(failures.join('; '));
}

/**
 * Starts one Consul server, which is its own leader.
 * @param https port for TLS, for settings that name certificates; -1, the default, for none
 */
export function startConsulProcess(settings: ConsulSettings, https = -1): Promise<ProcessService> {
  return startProcess(consulProgram(settings, https));
}

/**
 * Returns the version of the Consul agent at the address `endpoint`, once its cluster has a leader.
 * @param token for a server with ACLs
 */
export async function consulVersion(endpoint: string, token?: string): Promise<string> {
  const leader = await requestConsul(endpoint, '/v1/status/leader', { token });
  if (leader === '') throw new Error(`consul on ${endpoint} has no leader`);
  await requestConsul(endpoint, '/v1/kv/?keys&consistent', { token, expected: [200, 404] });
  return ((await requestConsul(endpoint, '/v1/agent/self', { token })) as { Config: { Version: string } })
    .Config.Version;
}

/** Returns the path of the program `consul`. @throws {NotHere} when it is not available */
export async function consulCommand(): Promise<string> {
  const program = await findConsul();
  if (program === undefined) throw new NotHere('consul is not installed');
  return program;
}

async function findConsul(): Promise<string | undefined> {
  assertPrepared('Consul');
  const [release] = CONSUL_RELEASES;
  const unpacked = release && join(archiveFolder(release), 'usr/bin/consul');
  return (await findProgram('consul')) ?? (unpacked ? firstExecutable([unpacked]) : undefined);
}

function consulProgram(settings: ConsulSettings, https: number): ServerProgram {
  return {
    name: 'consul',
    ports: 3,
    async command(place) {
      const program = await consulCommand();
      const file = join(place.directory, 'agent.json');
      await writeFile(file, JSON.stringify({ ...agentSettings(place, https), bootstrap: true, ...settings }));
      return { program, args: ['agent', '-config-file', file] };
    },
    probe: ({ host, ports }) => consulVersion(`${host}:${String(ports[0])}`, managementToken(settings)),
  };
}

function managementToken({ acl }: { readonly acl?: unknown }): string | undefined {
  return (acl as { readonly tokens?: { readonly master?: string } } | undefined)?.tokens?.master;
}

/**
 * Returns the settings of a Consul server that keeps its data in the given directory. They contain no
 * addresses of other servers.
 */
export function agentSettings(
  { host, data, ports: [http, server, serf], directory }: Place,
  https = -1,
): ConsulSettings {
  return {
    ...USUAL,
    server: true,
    node_name: directory.replace(/^.*\//, ''),
    data_dir: data,
    bind_addr: host,
    client_addr: host,
    ports: { http, https, server, serf_lan: serf, serf_wan: -1, dns: -1, grpc: -1 },
  };
}

/** Sends a read to the Consul agent at the address `endpoint`. Resolves with the parsed response. */
export async function requestConsul(
  endpoint: string,
  path: string,
  options: { readonly token?: string | undefined; readonly expected?: readonly number[] } = {},
): Promise<unknown> {
  const { token, expected = [200] } = options;
  const headers: Record<string, string> = token === undefined ? {} : { 'x-consul-token': token };
  const response = await fetch(`http://${endpoint}${path}`, { headers, signal: AbortSignal.timeout(5_000) });
  const text = await response.text();
  if (!expected.includes(response.status))
    throw new Error(`consul on ${endpoint} responds with ${response.status} to ${path}: ${text}`);
  return response.status === 200 ? JSON.parse(text) : undefined;
}
