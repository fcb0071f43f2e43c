import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { startEtcd, startZooKeeper, etcdMetrics, sumOf, zkFourLetter } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';
import { startProcess } from '@queuelock/harness/services/server-process';
import { findProgram } from '@queuelock/harness/services/programs';
import { NotHere } from '@queuelock/harness/services/service';
import { connect } from 'node:net';
import { once } from 'node:events';
import type { Medium, StoreName } from './cells.ts';

/**
 * Counts of a server since its start, by name: requests, messages, bytes, and microseconds of processor time.
 */
export type Counters = Readonly<Record<string, number>>;

/** A server that the benchmark starts anew for each round. */
export interface BenchServer {
  readonly store: StoreName;
  /** Environment variables for client programs, such as `ETCD=127.0.0.1:2379`. */
  readonly env: Readonly<Record<string, string>>;
  readonly endpoint: string;
  readonly version: string;
  /**
   * Returns the server's counters of requests and processor time. `reads` and `writes` exist only on etcd,
   * where a transaction counts as one or the other.
   */
  counters(): Promise<Counters>;
  stop(): Promise<void>;
}

// Tick of the ZooKeeper server in milliseconds, which is ZooKeeper's default. The server grants sessions of
// up to `LONGEST_SESSION_MS`, so that no heartbeat is sent while requests are counted.
const TICK_MS = 2_000;
const LONGEST_SESSION_MS = 60_000;
const TMPFS = '/dev/shm';
// Unit in which Linux counts processor time.
const TICK_US = 10_000;

/**
 * Starts a server on a new directory: in memory, or in `TMPDIR`. Rejects with `NotHere` if the server is not
 * installed.
 */
export async function startServer(store: StoreName, medium: Medium): Promise<BenchServer> {
  const before = process.env['QUEUELOCK_SERVER_DATA'];
  process.env['QUEUELOCK_SERVER_DATA'] = medium === 'tmpfs' ? TMPFS : tmpdir();
  try {
    return await starters[store]();
  } finally {
    if (before === undefined) delete process.env['QUEUELOCK_SERVER_DATA'];
    else process.env['QUEUELOCK_SERVER_DATA'] = before;
  }
}

const starters: Readonly<Record<StoreName, () => Promise<BenchServer>>> = {
  async etcd() {
    const server = await startEtcd({ way: 'process', flags: { 'log-level': 'error' } });
    const counters = (): Promise<Counters> => etcdCounters(server.endpoint);
    return { ...common(server, counters), store: 'etcd', env: { ETCD: server.endpoint } };
  },
  async zookeeper() {
    const server = await startZooKeeper({
      way: 'process',
      settings: { tickTime: TICK_MS, maxSessionTimeout: LONGEST_SESSION_MS },
      isMeasured: true,
    });
    const counters = (): Promise<Counters> => zooKeeperCounters(server.endpoint);
    return { ...common(server, counters), store: 'zookeeper', env: { ZK: server.endpoint } };
  },
  async redis() {
    const server = await startRedis();
    const counters = (): Promise<Counters> => Promise.resolve({});
    return { ...common(server, counters), store: 'redis', env: { REDIS: server.endpoint } };
  },
};

function common(server: ProcessService, counters: () => Promise<Counters>) {
  return {
    endpoint: server.endpoint,
    version: server.version,
    counters: async () => ({ ...(await counters()), cpuUs: cpuOf(server.pid) }),
    stop: () => server.stop(),
  };
}

/** Returns the processor time of a process in microseconds. */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The process name is in parentheses and may contain spaces, so fields are counted after it; utime and
  // stime are the 14th and 15th field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

async function etcdCounters(endpoint: string): Promise<Counters> {
  const metrics = await etcdMetrics(endpoint);
  const methods = new Set(
    [...metrics.keys()].flatMap(
      (sample) => /^grpc_server_msg_received_total\{grpc_method="(\w+)"/.exec(sample)?.[1] ?? [],
    ),
  );
  const calls: Record<string, number> = {};
  for (const method of methods)
    calls[method] = sumOf(metrics, 'grpc_server_msg_received_total', { grpc_method: method });
  const { Range = 0, Put = 0, DeleteRange = 0, Txn = 0, LeaseGrant = 0, LeaseRevoke = 0 } = calls;
  const requests = Range + Put + DeleteRange + Txn;
  // A transaction that changes nothing counts as a read, because etcd creates no Raft proposal for it.
  const writes = sumOf(metrics, 'etcd_server_proposals_committed_total') - LeaseGrant - LeaseRevoke;
  return {
    ...calls,
    requests,
    writes,
    reads: requests - writes,
    events: sumOf(metrics, 'etcd_debugging_mvcc_events_total'),
    bytesIn: sumOf(metrics, 'etcd_network_client_grpc_received_bytes_total'),
    bytesOut: sumOf(metrics, 'etcd_network_client_grpc_sent_bytes_total'),
  };
}

async function zooKeeperCounters(endpoint: string): Promise<Counters> {
  const mntr = await zkFourLetter(endpoint, 'mntr');
  const value = (name: string): number => Number(new RegExp(`^${name}\\s+(\\d+)`, 'm').exec(mntr)?.[1]);
  // Sums up the requests of ZooKeeper's open connections that have a session. ZooKeeper's own total includes
  // the requests of monitoring commands.
  const connections = [...(await zkFourLetter(endpoint, 'cons')).matchAll(/recved=(\d+),sent=(\d+),sid=/g)];
  const requests = connections.reduce((sum, [, received]) => sum + Number(received), 0);
  const sent = connections.reduce((sum, [, , count]) => sum + Number(count), 0);
  // Each request has one message as its response. All further messages that ZooKeeper sent are events.
  return {
    requests,
    events: sent - requests,
    packets: value('zk_packets_received'),
    bytesIn: value('zk_bytes_received_count'),
  };
}

async function startRedis(): Promise<ProcessService> {
  const program = await findProgram('redis-server');
  if (program === undefined) throw new NotHere('redis-server: apt-get install redis-server');
  return startProcess({
    name: 'redis',
    ports: 1,
    command: async ({ directory, host, ports }) => ({
      program,
      args: [
        '--bind',
        host,
        '--port',
        String(ports[0]),
        '--dir',
        directory,
        '--save',
        '',
        '--appendonly',
        'no',
      ],
    }),
    probe: ({ host, ports }) => redisVersion(host, ports[0] ?? 0),
  });
}

async function redisVersion(host: string, port: number): Promise<string> {
  const socket = connect({ host, port });
  socket.setTimeout(1_000, () => socket.destroy(new Error('redis does not answer')));
  await once(socket, 'connect');
  socket.write('INFO server\r\n');
  const output = String(await once(socket, 'data'));
  socket.destroy();
  const version = /redis_version:(\S+)/.exec(output)?.[1];
  if (version === undefined) throw new Error(`redis on ${host}:${port} answers ${output}`);
  return version;
}
