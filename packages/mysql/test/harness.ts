import type { BackendHarness } from '@queuelock/conformance';
import { mysql, type MysqlOptions } from '@queuelock/mysql';
import { OwnServer } from './servers.ts';

/**
 * Returns a conformance harness for MySQL, with a server of its own. Defines the hooks of the suite that
 * calls it.
 * @param optionsFor returns the options for a URL. Default: those for npm mysql2
 */
export function harness(optionsFor: (url: string) => MysqlOptions = (url) => ({ url })): BackendHarness {
  const own = new OwnServer();
  return {
    name: 'mysql',
    ttlMs: 800,
    // The entries of a dead session may be removed this many milliseconds after its TTL. That covers the
    // polling interval of a waiter with many entries ahead, and the delays of a busy machine.
    expiryGranularityMs: 800,
    connect: async () => mysql(optionsFor(own.url)),
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
