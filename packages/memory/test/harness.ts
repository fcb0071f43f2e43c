import type { BackendHarness } from '@queuelock/conformance';
import { createMemoryServer, memory } from '@queuelock/memory';

/** Returns a conformance harness in which each test has a memory server of its own. */
export function harness(latencyMs: number): BackendHarness {
  const server = createMemoryServer();
  return {
    name: latencyMs === 0 ? 'memory' : 'memory with latency',
    connect: async () => memory({ server, latencyMs }),
    // A busy machine may stall for longer than 200 ms. With a TTL of 800 ms, sessions outlive such a stall.
    ttlMs: 800,
    expiryGranularityMs: 500,
    traces: true,
    together: true,
    sharing: true,
    eviction: true,
    registers: true,
    resumption: true,
    queues: true,
    evict: async (key) => void server.evict(key),
    entries: async (queue) => server.queues().get(queue) ?? [],
  };
}
