import type { BackendHarness } from '@queuelock/conformance';
import { redis } from '@queuelock/redis';
import { sharedRedis } from '@queuelock/harness/services';
import { Operator } from './operator.ts';

/** On the server that all share, or another one, with a prefix of its own; defines the hooks of the suite that calls it. */
export function harness(prefix: string, server: typeof sharedRedis = sharedRedis): BackendHarness {
  let operator: Operator;
  const endpoint = async (): Promise<string> => (await server('conformance of @queuelock/redis')).endpoint;
  before(async () => {
    operator = await Operator.connect(await endpoint(), prefix);
  });
  after(() => operator.close());
  return {
    name: 'redis',
    ttlMs: 800,
    // Who waits far behind looks a little later, and a busy machine.
    expiryGranularityMs: 800,
    connect: async () => redis({ url: `redis://${await endpoint()}`, prefix }),
    traces: true,
    together: true,
    sharing: true,
    eviction: true,
    registers: true,
    resumption: true,
    queues: true,
    evict: (key) => operator.evict(key),
    entries: (queue) => operator.entries(queue),
  };
}
