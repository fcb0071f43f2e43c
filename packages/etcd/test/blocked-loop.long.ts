import { etcd } from '@queuelock/etcd';
import { describeBlockedLoop } from '@queuelock/harness/blocked-loop';
import { startEtcd } from '@queuelock/harness/services';

// `graceMs` is the time that the server may need to end a session after its TTL. It includes the interval at which etcd looks for expired leases.
describeBlockedLoop('etcd', {
  graceMs: 3_000,
  start: async () => {
    const server = await startEtcd({ way: 'process' });
    const options = { hosts: [server.endpoint] };
    return {
      holder: { module: import.meta.resolve('@queuelock/etcd'), backend: 'etcd', options },
      connect: () => etcd(options),
      stop: () => server.stop(),
    };
  },
});
