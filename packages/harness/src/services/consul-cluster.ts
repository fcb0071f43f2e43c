import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  agentSettings,
  requestConsul,
  consulCommand,
  consulVersion,
  type ConsulSettings,
} from './consul-process.ts';
import { pickPorts } from './ports.ts';
import { newPlace, ServerProcess } from './server-process.ts';
import { until } from './until.ts';

const SERVERS = 3;
const PORTS = 3;
const LEADER_WITHIN_MS = 60_000;

/** Three Consul servers of one cluster. */
export interface ConsulCluster {
  readonly servers: readonly ServerProcess[];
  /** Resolves with the server that all responding servers regard as the leader. */
  leader(): Promise<ServerProcess>;
  /** Stops all servers of the cluster. */
  stop(): Promise<void>;
}

/** Starts a cluster; resolves when it has a leader. */
export async function startConsulCluster(settings: ConsulSettings = {}): Promise<ConsulCluster> {
  const ports = await pickPorts(SERVERS * PORTS);
  const serf = ports.filter((_, at) => at % PORTS === 2).map((port) => `127.0.0.1:${port}`);
  const servers = await Promise.all(
    serf.map(async (_, at) => {
      const place = await newPlace('consul', {
        host: '127.0.0.1',
        ports: ports.slice(at * PORTS, (at + 1) * PORTS),
      });
      return new ServerProcess(
        {
          name: 'consul',
          ports: PORTS,
          async command(where) {
            const file = join(where.directory, 'agent.json');
            const joined = { bootstrap_expect: SERVERS, retry_join: serf, retry_interval: '200ms' };
            await writeFile(file, JSON.stringify({ ...agentSettings(where), ...joined, ...settings }));
            return { program: await consulCommand(), args: ['agent', '-config-file', file] };
          },
          probe: (where) => consulVersion(`${where.host}:${String(where.ports[0])}`),
        },
        place,
      );
    }),
  );
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    await Promise.all(servers.map((server) => server.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return { servers, leader: () => leaderOf(servers, ports), stop };
}

function leaderOf(servers: readonly ServerProcess[], ports: readonly number[]): Promise<ServerProcess> {
  return until(
    async () => {
      const views = await Promise.allSettled(
        servers.map(({ endpoint }) => requestConsul(endpoint, '/v1/status/leader')),
      );
      const seen = views.flatMap((view) => (view.status === 'fulfilled' ? [view.value as string] : []));
      const [leader = ''] = seen;
      const at = ports.findIndex((port) => leader.endsWith(`:${String(port)}`));
      const server = servers[Math.floor(at / PORTS)];
      if (!server || seen.length <= SERVERS / 2 || seen.some((other) => other !== leader))
        throw new Error(`the servers regard ${seen.join(', ')} as the leader`);
      return server;
    },
    { what: 'a Consul cluster has a leader', withinMs: LEADER_WITHIN_MS },
  );
}
