import type { BackendHarness } from '@queuelock/conformance';
import { redis } from '@queuelock/redis';
import { sharedRedis } from '@queuelock/harness/services';
import { Operator } from './operator.ts';

/**
 * Returns a harness for a Redis server, by default the shared one, with its own key prefix. Registers mocha
 * hooks in the calling suite.
 */
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
    // A waiter reads the queue when the first lease ends, and so removes expired entries. A waiter far back
    // in the queue does so up to 100 ms after the first waiter. The tests allow 800 ms, since the machine may
    // be busy.
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
