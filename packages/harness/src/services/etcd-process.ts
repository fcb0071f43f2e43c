import type { Command } from './child.ts';
import { installPackages } from './install.ts';
import { assertPrepared } from './prepared.ts';
import { findProgram } from './programs.ts';
import { startProcess, type Place, type ServerProgram } from './server-process.ts';
import type { ProcessService } from './service.ts';
import { trixieCommand } from './trixie.ts';

/** Flags of the etcd command without the dashes: `{ 'heartbeat-interval': 50, 'quota-backend-bytes': 16777216 }`. */
export type EtcdFlags = Readonly<Record<string, string | number | boolean>>;

const OURS = /^(name|data-dir|wal-dir|config-file|initial-.*|(listen|advertise)-.*)$/;

/** Throws on flags for addresses and directories, because the start of the server sets them itself. */
export function checkEtcdFlags(flags: EtcdFlags): void {
  for (const flag of Object.keys(flags)) {
    if (!/^[a-z][a-z0-9-]*$/.test(flag))
      throw new TypeError(`flags: "${flag}" is no etcd flag; write it without dashes`);
    if (OURS.test(flag))
      throw new TypeError(`flags: "${flag}" is set by the start itself; choose other flags`);
  }
}

/** Returns whether the programs for `startEtcdProcess` are available. */
export async function hasEtcd(): Promise<boolean> {
  return (await findProgram('etcd')) !== undefined;
}

/** Installs Debian's packages of etcd. */
export async function installEtcd(): Promise<void> {
  await installPackages(['etcd-server', 'etcd-client']);
}

export function startEtcdProcess(flags: EtcdFlags): Promise<ProcessService> {
  return startProcess(etcdProgram(flags));
}

/** Starts etcd 3.5 of Debian 13. */
export function startNewerEtcd(): Promise<ProcessService> {
  return startProcess({ ...etcdProgram({}), command: async (place) => newerEtcdCommand(placeArgs(place)) });
}

/** Returns the command that starts etcd 3.5 of Debian 13 with these arguments. */
export function newerEtcdCommand(args: readonly string[]): Promise<Command> {
  assertPrepared('etcd 3.5');
  return trixieCommand('etcd', args);
}

function etcdProgram(flags: EtcdFlags): ServerProgram {
  return {
    name: 'etcd',
    ports: 2,
    command: (place) => etcdCommand(placeArgs(place), flags),
    probe: probeEtcd,
  };
}

export async function etcdCommand(args: readonly string[], flags: EtcdFlags): Promise<Command> {
  assertPrepared('etcd');
  return {
    program: (await findProgram('etcd')) ?? 'etcd',
    args: [...args, ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)],
  };
}

// The temporary directory's name is unique, so it distinguishes this member from an unrelated server on the
// same port.
function memberName(place: Place): string {
  return place.directory.replace(/^.*\//, '');
}

function placeArgs(place: Place): string[] {
  const [client, peer] = place.ports.map((port) => `http://127.0.0.1:${port}`);
  return [
    `--name=${memberName(place)}`,
    `--data-dir=${place.data}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=${memberName(place)}=${peer}`,
  ];
}

async function probeEtcd(place: Place): Promise<string> {
  const endpoint = `127.0.0.1:${place.ports[0]}`;
  const names = await etcdMembers(endpoint);
  if (!names.includes(memberName(place)))
    throw new Error(`another etcd answers on ${endpoint}: ${names.join(', ')}`);
  return etcdVersion(endpoint);
}

/** Returns the names of the members. They are read from the store, so the cluster needs a leader. */
async function etcdMembers(endpoint: string): Promise<string[]> {
  await requestEtcd(endpoint, '/health');
  const { members } = (await requestEtcd(endpoint, '/v3/cluster/member/list', 'POST')) as {
    members: { name?: string }[];
  };
  return members.map(({ name }) => name ?? '');
}

/** Resolves with the server's version once it is healthy (a linearizable read succeeded). */
export async function etcdVersion(endpoint: string): Promise<string> {
  await requestEtcd(endpoint, '/health');
  return ((await requestEtcd(endpoint, '/version')) as { etcdserver: string }).etcdserver;
}

async function requestEtcd(endpoint: string, path: string, method = 'GET'): Promise<unknown> {
  const body = method === 'POST' ? '{}' : null;
  const response = await fetch(`http://${endpoint}${path}`, {
    method,
    body,
    signal: AbortSignal.timeout(5_000),
  });
  if (!response.ok) throw new Error(`etcd on ${endpoint} answers ${response.status} to ${path}`);
  return response.json();
}
