import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Cluster, Member } from '@queuelock/harness/clusters';
import { callEtcd } from '@queuelock/harness/services/etcd-gateway';

const run = promisify(execFile);
const env = { ...process.env, ETCDCTL_API: '3' };
const RESPONSE_WITHIN_MS = 5_000;

/** The name of a member, and the addresses at which the other members reach it. */
interface Name {
  readonly name: string;
  readonly peerURLs: readonly string[];
}

export interface Backup {
  readonly file: string;
  readonly names: readonly Name[];
}

/** Saves the present state of the cluster as operators do: `etcdctl snapshot save`. */
export async function backUp({ endpoints, members }: Cluster): Promise<Backup> {
  const [endpoint = ''] = endpoints;
  const file = join(members[0]!.directory, 'backup.db');
  await run('etcdctl', ['--endpoints', endpoint, 'snapshot', 'save', file], { env });
  const requested = { endpoint, call: 'cluster/member/list', agent: false as const };
  const signal = AbortSignal.timeout(RESPONSE_WITHIN_MS);
  const list = (await callEtcd({ ...requested, signal }, {})) as { members: Name[] };
  return { file, names: list.members };
}

/**
 * Restores the cluster from a backup: all members end, get the old data (`etcdctl snapshot restore`), and
 * start.
 */
export async function restore(cluster: Cluster, backup: Backup): Promise<void> {
  await Promise.all(cluster.members.map((member) => member.kill()));
  await Promise.all(cluster.members.map((member) => giveOldData(member, backup)));
  await Promise.all(cluster.members.map((member) => member.start()));
  await cluster.ready();
}

async function giveOldData({ node, directory }: Member, { file, names }: Backup): Promise<void> {
  const own = names.find(({ name }) => name.startsWith(`${node}-`))!;
  const data = join(directory, 'data');
  await rm(data, { recursive: true });
  const flags = {
    name: own.name,
    'data-dir': data,
    'initial-cluster': names.map(({ name, peerURLs }) => `${name}=${peerURLs[0]}`).join(','),
    'initial-cluster-token': 'restored',
    'initial-advertise-peer-urls': own.peerURLs[0],
  };
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  await run('etcdctl', ['snapshot', 'restore', file, ...args], { env });
}
