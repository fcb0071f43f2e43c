import { consul } from '@queuelock/consul';
import { describeBlockedLoop } from '@queuelock/harness/blocked-loop';
import { startConsul } from '@queuelock/harness/services';

// The server ends a session up to twice its TTL after the last renewal.
describeBlockedLoop('Consul', {
  graceMs: 8_000,
  start: async () => {
    const server = await startConsul({ way: 'process' });
    const options = { hosts: server.endpoint, minTtlMs: 1_000 };
    return {
      holder: { module: import.meta.resolve('@queuelock/consul'), backend: 'consul', options },
      connect: () => consul(options),
      stop: () => server.stop(),
    };
  },
});
