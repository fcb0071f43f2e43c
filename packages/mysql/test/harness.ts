import type { BackendHarness } from '@queuelock/conformance';
import { mysql } from '@queuelock/mysql';
import { OwnServer } from './servers.ts';

/** On a server of its own; defines the hooks of the suite that calls it. */
export function harness(): BackendHarness {
  const own = new OwnServer();
  return {
    name: 'mysql',
    ttlMs: 800,
    // The round of who waits far behind, and a busy machine.
    expiryGranularityMs: 800,
    connect: async () => mysql({ url: own.url }),
    traces: true,
    together: true,
    sharing: true,
    eviction: true,
    registers: true,
    resumption: true,
    queues: true,
    evict: (key) => own.operator.evict(key),
    entries: (queue) => own.operator.entries(queue),
  };
}
