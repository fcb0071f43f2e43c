import { fromUrl } from '@queuelock/etcd';
import { startTlsServer } from '@queuelock/harness/services/etcd-tls';
import { describeRotation, parametersOf } from './rotation.ts';

for (const transport of ['etcd3', 'http2'] as const)
  describeRotation(`etcd over ${transport}`, 'IP:127.0.0.1,DNS:localhost', async (files) => {
    const server = await startTlsServer(files.certificates);
    return {
      connect: () => fromUrl(`etcds://${server.endpoint}?${parametersOf(files)}&transport=${transport}`),
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  });
