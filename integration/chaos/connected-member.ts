import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import type { Member } from '@queuelock/harness/clusters';
import { splitEndpoint } from '@queuelock/harness/services/endpoint';
import { zkFourLetter } from '@queuelock/harness/services';
import { until } from '@queuelock/harness/services/until';
import type { Experiment } from './experiment.ts';
import type { WorkerProcess } from './worker-process.ts';

const ESTABLISHED = '01';
// Time limit in milliseconds for a worker to connect. It includes the first heartbeat, which opens the
// connection for heartbeats.
const CONNECTED_WITHIN_MS = 15_000;

/**
 * Resolves with the member that this worker's lock client is connected to. Call it while the worker waits or
 * holds.
 */
export function connectedMember(experiment: Experiment, worker: WorkerProcess): Promise<Member> {
  const find = experiment.store === 'etcd' ? mostConnections : homeOfSession;
  return until(() => find(experiment, worker), {
    what: `${worker.id} talks to one member`,
    withinMs: CONNECTED_WITHIN_MS,
  });
}

/**
 * Resolves with the member to which most connections of the worker's process lead (Linux only). The lock
 * client opens several connections to its member, and the worker's fenced writes open only one.
 */
async function mostConnections({ cluster }: Experiment, { pid, place }: WorkerProcess): Promise<Member> {
  const peers = peersOf(pid);
  const counts = place!.endpoints.map((endpoint) => {
    const address = hexOf(endpoint);
    return peers.filter((peer) => peer === address).length;
  });
  const most = Math.max(...counts);
  if (most < 2 || counts.filter((count) => count === most).length > 1) {
    throw new Error(`process ${pid} has ${counts.join(', ')} connections to ${place!.endpoints.join(', ')}`);
  }
  return cluster.members[counts.indexOf(most)]!;
}

/** Resolves with the ZooKeeper member to which the session of a worker is connected. */
async function homeOfSession({ cluster }: Experiment, { id, events }: WorkerProcess): Promise<Member> {
  const session = events.findLast((event) => event.ev === 'queued')?.session;
  for (const member of cluster.members) {
    if ((await zkFourLetter(member.endpoint, 'cons')).includes(`sid=0x${session},`)) return member;
  }
  throw new Error(`no member has a connection of ${id} with session ${session}`);
}

/** Returns the remote ends of a process's connections, in the format of `/proc/net/tcp`. */
function peersOf(pid: number): string[] {
  const sockets = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)));
  const [, ...lines] = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const [, , peer = '', state, , , , , , inode] = line.trim().split(/\s+/);
    return state === ESTABLISHED && sockets.has(`socket:[${inode}]`) ? [peer] : [];
  });
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // Ignores a descriptor that was closed after `readdirSync` listed it.
  }
}

// The address is a 32-bit number in the machine's byte order (proc(5)); all supported machines are little-endian.
function hexOf(endpoint: string): string {
  const { host, port } = splitEndpoint(endpoint);
  const bytes = host.split('.').map(Number).reverse();
  const hex = (value: number, digits: number): string =>
    value.toString(16).toUpperCase().padStart(digits, '0');
  return `${bytes.map((byte) => hex(byte, 2)).join('')}:${hex(port, 4)}`;
}
