import type { BackendHarness } from '@queuelock/conformance';
import { redis } from '@queuelock/redis';
import { sharedRedis } from '@queuelock/harness/services';
import { Operator } from './operator.ts';

/** Returns a harness for the shared server, or another one, with a key prefix of its own. Defines the hooks of the suite that calls it. */
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
    // The limit covers the interval at which a waiter far back in the queue reads, and the delays of a busy
    // machine.
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
