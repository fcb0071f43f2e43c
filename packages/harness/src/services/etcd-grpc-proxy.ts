import { etcdCommand, etcdVersion } from './etcd-process.ts';
import { startProcess } from './server-process.ts';
import type { ProcessService, Service } from './service.ts';

/**
 * Starts `etcd grpc-proxy`, by the program of the tests' own etcd servers, in front of a server. Its version is that of the server behind it. It numbers
 * watches itself, whatever ids the requests propose.
 */
export function startEtcdGrpcProxy({ endpoint }: Pick<Service, 'endpoint'>): Promise<ProcessService> {
  return startProcess({
    name: 'etcd grpc-proxy',
    ports: 1,
    command: ({ host, ports }) =>
      etcdCommand(
        ['grpc-proxy', 'start', `--endpoints=${endpoint}`, `--listen-addr=${host}:${ports[0]}`],
        {},
      ),
    probe: async ({ host, ports }) => {
      const { status } = await fetch(`http://${host}:${ports[0]}/health`, {
        signal: AbortSignal.timeout(5_000),
      });
      if (status !== 200) throw new Error(`/health answers ${status}`);
      return etcdVersion(endpoint);
    },
  });
}
