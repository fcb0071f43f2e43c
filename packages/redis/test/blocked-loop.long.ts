import { describeBlockedLoop } from '@queuelock/harness/blocked-loop';
import { startRedis } from '@queuelock/harness/services';
import { redis } from '@queuelock/redis';

describeBlockedLoop('Redis', {
  graceMs: 2_000,
  start: async () => {
    const server = await startRedis({ way: 'process' });
    const options = { url: `redis://${server.endpoint}` };
    return {
      holder: { module: import.meta.resolve('@queuelock/redis'), backend: 'redis', options },
      connect: () => redis(options),
      stop: () => server.stop(),
    };
  },
});
