import type { EtcdOptions } from '@queuelock/etcd';
import { startTlsServer } from '@queuelock/harness/services/etcd-tls';
import { parametersOf, type StartRotatedServer } from './rotation.ts';

/**
 * Address and host name of the etcd server, in the format of openssl. The test issues certificates for them.
 */
export const ETCD_NAMES = 'IP:127.0.0.1,DNS:localhost';

/**
 * Returns a function that starts an etcd server with certificates. The test's clients connect to it over the
 * given transport.
 */
export function etcdWithCertificates(transport: NonNullable<EtcdOptions['transport']>): StartRotatedServer {
  return async (files) => {
    const server = await startTlsServer(files.certificates);
    return {
      module: import.meta.resolve('@queuelock/etcd'),
      url: `etcds://${server.endpoint}?${parametersOf(files)}&transport=${transport}`,
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  };
}
