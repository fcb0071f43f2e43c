import { setTimeout as pause } from 'node:timers/promises';
import { startConsulCluster, type ConsulCluster } from '@queuelock/harness/services/consul-cluster';
import type { ServerProcess } from '@queuelock/harness/services/server-process';
import { atTeardown, recordRanAgainst } from '@queuelock/harness/services/shared';
import { CONSUL_OF_MANY_CLIENTS } from './consul-settings.ts';
import { DetourTrial, type DetourSettings } from './detour-trial.ts';
import { SHORT_MS, strikeAll, type ServerFault, type StrikeOptions } from './traveller-faults.ts';

/**
 * TTL of the workers' sessions in milliseconds. Even on a busy machine, the Consul servers elect a leader
 * within it (`raft_multiplier` 1).
 */
const TTL_MS = 4_000;
const ELECTION_MS = 5_000;
/**
 * Duration of the suspension of a Consul leader, in TTLs. A leader that is suspended for so long still
 * confirms renewals when it resumes, while the new leader is about to end the sessions.
 * packages/consul/test/frozen-leader.long.ts measures this.
 */
const OUTLASTED_TTLS = 2.7;

/**
 * Times of the trial in milliseconds. Consul ends a session up to twice its TTL after the last renewal. A
 * leader that is elected meanwhile waits for up to twice the TTL again, counted from its election.
 */
const TIMING = {
  ttlMs: TTL_MS,
  safetyMarginMs: 200,
  expiryMs: TTL_MS + 1_000,
  withLeaderLossMs: 4 * TTL_MS + ELECTION_MS,
} as const;

let started: Promise<ConsulCluster> | undefined;

/**
 * Starts a trial: workers that take locks on three Consul servers. All trials of this process share the
 * servers.
 */
export async function startConsulClusterTrial(settings: DetourSettings = {}): Promise<ConsulClusterTrial> {
  const cluster = await sharedCluster();
  const trial = new ConsulClusterTrial(cluster, settings);
  await trial.begin();
  return trial;
}

/** A trial on three Consul servers, whose workers each have their own proxies to all of them. */
export class ConsulClusterTrial extends DetourTrial {
  readonly cluster: ConsulCluster;

  constructor(cluster: ConsulCluster, settings: DetourSettings) {
    const { servers } = cluster;
    super(
      {
        store: 'consul-cluster',
        servers: {
          endpoints: servers.map(({ endpoint }) => endpoint),
          thaw: () => Promise.all(servers.map((server) => server.thaw())),
        },
        url: (endpoints) => `consul://${endpoints.join(',')}?minTtlMs=100`,
        timing: TIMING,
      },
      settings,
    );
    this.cluster = cluster;
  }

  /** Makes the faults of servers and of clients in random order; see `strikeAll`. */
  async strikeAll(options?: StrikeOptions): Promise<void> {
    await strikeAll(this, faultsOf(this.cluster), options);
  }
}

function faultsOf(cluster: ConsulCluster): Readonly<Record<string, ServerFault>> {
  const followers = async (): Promise<readonly ServerProcess[]> => {
    const leader = await cluster.leader();
    return cluster.servers.filter((server) => server !== leader);
  };
  const killed = async (servers: readonly ServerProcess[]): Promise<void> => {
    await Promise.all(servers.map((server) => server.kill()));
    await Promise.all(servers.map((server) => server.restart()));
  };
  const frozen = async (servers: readonly ServerProcess[], ms: number): Promise<void> => {
    await Promise.all(servers.map((server) => server.freeze()));
    await pause(ms);
    await Promise.all(servers.map((server) => server.thaw()));
  };
  return {
    'leader killed': async () => killed([await cluster.leader()]),
    'leader frozen': async () => frozen([await cluster.leader()], SHORT_MS),
    'leader frozen for long': async (longMs) => frozen([await cluster.leader()], longMs),
    'leader frozen until sessions end': async () => frozen([await cluster.leader()], OUTLASTED_TTLS * TTL_MS),
    'follower killed': async () => killed((await followers()).slice(0, 1)),
    'follower frozen for long': async (longMs) => frozen((await followers()).slice(0, 1), longMs),
    'majority frozen for long': async (longMs) => frozen(await followers(), longMs),
    'all servers killed': () => killed(cluster.servers),
  };
}

async function sharedCluster(): Promise<ConsulCluster> {
  if (!started) {
    const starting = (started = startConsulCluster(CONSUL_OF_MANY_CLIENTS));
    atTeardown(async () => {
      started = undefined;
      // Ignores a failed start, because the test that started the cluster has already failed with the error.
      await (await starting.catch(() => undefined))?.stop();
    });
  }
  const cluster = await started;
  recordRanAgainst('faults on three servers', 'consul', cluster.servers[0]!);
  return cluster;
}
