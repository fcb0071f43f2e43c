import { fromUrl, type EtcdOptions } from '@queuelock/etcd';
import { startTlsServer } from '@queuelock/harness/services/etcd-tls';
import { describeRotation, parametersOf } from './rotation.ts';

/** Defines the test of replaced certificates for etcd over the given transport (the option `transport`). */
export function describeEtcdCertificates(transport: NonNullable<EtcdOptions['transport']>): void {
  describeRotation(`etcd over ${transport}`, 'IP:127.0.0.1,DNS:localhost', async (files) => {
    const server = await startTlsServer(files.certificates);
    return {
      connect: () => fromUrl(`etcds://${server.endpoint}?${parametersOf(files)}&transport=${transport}`),
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  });
}
