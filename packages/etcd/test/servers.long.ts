// Runs the conformance suite on servers that the short test run does not start: etcd 3.5, and etcd behind a grpc-proxy.
import { describeBackend } from '@queuelock/conformance';
import { sharedEtcd } from '@queuelock/harness/services';
import { startEtcdGrpcProxy } from '@queuelock/harness/services/etcd-grpc-proxy';
import { startNewerEtcd } from '@queuelock/harness/services/etcd-process';
import { shareService } from '@queuelock/harness/services/shared';
import { harnessesOfEtcd, type Endpoints } from './conformance-harness.ts';

const WHAT = 'conformance of @queuelock/etcd';
const TRANSPORTS = ['etcd3', 'http2', 'socket'] as const;

const older = (): Promise<string> => sharedEtcd(WHAT).then(({ endpoint }) => endpoint);
const newerServer = shareService('etcd 3.5', startNewerEtcd);
const newer = (): Promise<string> => newerServer(WHAT).then(({ endpoint }) => endpoint);
const olderProxy = shareService('etcd grpc-proxy', async () =>
  startEtcdGrpcProxy({ endpoint: await older() }),
);
const newerProxy = shareService('etcd grpc-proxy 3.5', async () =>
  startEtcdGrpcProxy({ endpoint: await newer() }, { isNewer: true }),
);

const SERVERS: Readonly<Record<string, Endpoints & { readonly isProxied: boolean }>> = {
  'etcd 3.5': { hosts: newer, operator: newer, isProxied: false },
  'etcd behind a grpc-proxy': {
    hosts: () => olderProxy(WHAT).then(({ endpoint }) => endpoint),
    operator: older,
    isProxied: true,
  },
  'etcd 3.5 behind a grpc-proxy': {
    hosts: () => newerProxy(WHAT).then(({ endpoint }) => endpoint),
    operator: newer,
    isProxied: true,
  },
};

describe('@queuelock/etcd', () => {
  for (const [name, { isProxied, ...endpoints }] of Object.entries(SERVERS)) {
    const harnessOf = harnessesOfEtcd(endpoints);
    for (const transport of TRANSPORTS)
      describeBackend({
        ...harnessOf(`${name}, over ${transport},`, {
          transport,
          prefix: `conformance-${transport}-${name}/`,
        }),
        // Behind a proxy the TTL is longer. There a heartbeat proves up to a second less, and the end of a lease is reported up to a second later.
        ...(isProxied ? { ttlMs: 5_000, atOnce: 4 } : {}),
      });
  }
});
