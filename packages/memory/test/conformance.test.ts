import { describeBackend } from '@queuelock/conformance';
import { createMemoryServer, memory } from '@queuelock/memory';

for (const latencyMs of [0, 2]) {
  const server = createMemoryServer();
  describeBackend({
    name: latencyMs === 0 ? 'memory' : 'memory with latency',
    connect: async () => memory({ server, latencyMs }),
    ttlMs: 200,
    expiryGranularityMs: 150,
    traces: true,
    together: true,
    sharing: true,
    eviction: true,
    registers: true,
    resumption: true,
    evict: async (key) => void server.evict(key),
    entries: async (queue) => server.queues().get(queue) ?? [],
  });
}
