import { consul } from '@queuelock/consul';
import { describeBlockedLoop } from '@queuelock/harness/blocked-loop';
import { startConsul } from '@queuelock/harness/services';

// Consul may end a session only after twice its TTL. So the tests allow a long time from the TTL to the end of
// the session (`graceMs`).
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
