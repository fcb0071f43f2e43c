import type { Finding } from '@queuelock/core/backend';
import type { Settings } from '../api/options.ts';
import type { Contender } from '../queue/entries.ts';
import { agentIn, leaderIn, serversIn, sessionNamesIn } from '../driver/responses.ts';
import type { Connection } from '../server/connection.ts';
import { queuesIn, type ViewTools } from './views.ts';

/** Checks the cluster and counts its queues and sessions. Read-only. */
export async function diagnose(
  { connection, keys }: ViewTools,
  { minTtlMs }: Pick<Settings, 'minTtlMs'>,
  prefix: string,
): Promise<readonly Finding[]> {
  const about = connection.endpoint;
  const leader = await requestFor(connection, '/v1/status/leader', leaderIn);
  if (leader === '')
    return [{ level: 'error', about, text: 'the cluster has no leader: nothing can be locked' }];
  const peers = await requestFor(connection, '/v1/status/peers', serversIn);
  const agent = await agentOf(connection);
  const { pairs } = await connection.read(keys.queuesFrom(prefix), { isConsistent: true, isTree: true });
  const sessions = await requestFor(connection, '/v1/session/list', sessionNamesIn);
  const own = sessions.filter((name) => name === 'queuelock').length;
  return [
    ...(agent ? [...judgeAgent(agent, about), ...judgeTtl(agent, minTtlMs, about)] : [unknownAgent(about)]),
    judgeServers(peers.length, about),
    ...judgeQueues(queuesIn(keys, pairs), own),
  ];
}

/** Returns findings about the queues: how many there are, and which have keys that queuelock did not write. */
export function judgeQueues(
  queues: ReadonlyMap<string, readonly Pick<Contender, 'key' | 'isForeign'>[]>,
  sessions: number,
): readonly Finding[] {
  const foreign = [...queues].flatMap(([name, entries]): Finding[] => {
    const keys = entries.filter(({ isForeign }) => isForeign).map(({ key }) => key);
    if (keys.length === 0) return [];
    const text = `queuelock did not write ${JSON.stringify(keys[0])}${keys.length > 1 ? ` and ${keys.length - 1} more keys` : ''}: entries behind wait until they are deleted`;
    return [{ level: 'warning', about: `queue ${name}`, text }];
  });
  const entries = [...queues.values()].reduce((sum, { length }) => sum + length, 0);
  const text = `${queues.size} in use, entries: ${entries}, sessions: ${sessions}`;
  return [...foreign, { level: 'ok', about: 'queues', text }];
}

/** What a Consul agent reports about itself: its version, whether it is a server, and the shortest TTL that it accepts. */
export interface AgentFacts {
  readonly version: string;
  readonly isServer: boolean;
  /** The setting `session_ttl_min` of a server, in milliseconds; `undefined` where the agent does not report it. */
  readonly minTtlMs: number | undefined;
}

/** Returns findings about the Consul version of the agent that receives the requests. */
export function judgeAgent({ version, isServer }: AgentFacts, about: string): readonly Finding[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < 1) {
    const text = `Consul ${version} is older than 1.0, the oldest release that is supported`;
    return [{ level: 'error', about, text }];
  }
  const role = isServer ? 'a server' : 'a client agent';
  const tested = major === 1 && minor < 8 ? '; releases before 1.8 are not tested' : '';
  return [{ level: tested === '' ? 'ok' : 'warning', about, text: `Consul ${version}, ${role}${tested}` }];
}

/**
 * Returns findings about the option `minTtlMs`, which must equal the setting `session_ttl_min` of the
 * servers.
 */
export function judgeTtl(
  { minTtlMs: serverMs, isServer }: AgentFacts,
  minTtlMs: number,
  about: string,
): readonly Finding[] {
  if (!isServer || serverMs === undefined || serverMs === minTtlMs) return [];
  const text = `session_ttl_min is ${serverMs} ms, and this client assumes ${minTtlMs} ms: set the option minTtlMs (?minTtlMs=${serverMs})`;
  return [{ level: serverMs > minTtlMs ? 'error' : 'warning', about, text }];
}

/** Returns a finding about the number of servers. */
export function judgeServers(servers: number, about: string): Finding {
  if (servers < 3) {
    const text = `the cluster has ${servers} ${servers === 1 ? 'server' : 'servers'}: nothing can be locked while one is down; run 3 or 5`;
    return { level: 'warning', about, text };
  }
  return { level: 'ok', about, text: `the cluster has ${servers} servers` };
}

function unknownAgent(about: string): Finding {
  const text =
    'the token may not read the agent (agent:read), so its version and its settings are not checked';
  return { level: 'warning', about, text };
}

async function agentOf(connection: Connection): Promise<AgentFacts | undefined> {
  const { status, body } = await connection.send({
    method: 'GET',
    path: '/v1/agent/self',
    expected: [200, 403],
  });
  if (status === 403) return undefined;
  const { minTtl, ...agent } = connection.parse(agentIn, body);
  return { ...agent, minTtlMs: millisecondsIn(minTtl) };
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/**
 * Converts a duration as Go prints it, such as `1m30s`, to milliseconds. Converts `0s` to 10,000, because it
 * means that the operator did not change the setting from its default of 10 s.
 */
export function millisecondsIn(duration: unknown): number | undefined {
  if (typeof duration !== 'string') return undefined;
  if (duration === '0s') return 10_000;
  const parts = [...duration.matchAll(/([\d.]+)(ms|[smh])/g)];
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS.get(unit) ?? 0), 0);
}

async function requestFor<T>(connection: Connection, path: string, read: (body: string) => T): Promise<T> {
  const { body } = await connection.send({ method: 'GET', path });
  return connection.parse(read, body);
}
