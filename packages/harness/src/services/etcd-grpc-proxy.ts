import { etcdCommand, etcdVersion, newerEtcdCommand } from './etcd-process.ts';
import { startProcess } from './server-process.ts';
import type { ProcessService, Service } from './service.ts';

/** The program of the proxy: the same etcd as the tests' servers, or with `isNewer` that of Debian 13. */
export interface GrpcProxyOptions {
  readonly isNewer?: boolean;
}

/**
 * Starts `etcd grpc-proxy` in front of a server. The proxy reports the version of the server behind it. It numbers watches itself and ignores the
 * watch ids that clients propose.
 */
export function startEtcdGrpcProxy(
  { endpoint }: Pick<Service, 'endpoint'>,
  { isNewer = false }: GrpcProxyOptions = {},
): Promise<ProcessService> {
  return startProcess({
    name: 'etcd-grpc-proxy',
    ports: 1,
    command: ({ host, ports }) => {
      const args = ['grpc-proxy', 'start', `--endpoints=${endpoint}`, `--listen-addr=${host}:${ports[0]}`];
      return isNewer ? newerEtcdCommand(args) : etcdCommand(args, {});
    },
    probe: async ({ host, ports }) => {
      const { status } = await fetch(`http://${host}:${ports[0]}/health`, {
        signal: AbortSignal.timeout(5_000),
      });
      if (status !== 200) throw new Error(`/health answers ${status}`);
      return etcdVersion(endpoint);
    },
  });
}
