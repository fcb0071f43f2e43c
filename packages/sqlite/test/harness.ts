import type { BackendHarness } from '@queuelock/conformance';
import { sqlite } from '@queuelock/sqlite';
import { Bench } from './bench.ts';

/** Returns a harness with a lock file of its own. Registers a mocha hook in the calling suite. */
export function harness(): BackendHarness {
  const bench = new Bench();
  after(() => bench.close());
  return {
    name: 'sqlite',
    ttlMs: 800,
    // A waiter notices an expired session at its next poll of the file, within 250 ms. The tests allow 800
    // ms, since the machine may be busy.
    expiryGranularityMs: 800,
    connect: async () => sqlite({ file: bench.file }),
    traces: true,
    together: true,
    sharing: true,
    eviction: true,
    registers: true,
    resumption: true,
    queues: true,
    evict: (key) => bench.evict(key),
    entries: (queue) => bench.entries(queue),
  };
}
