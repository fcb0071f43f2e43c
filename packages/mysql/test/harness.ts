import type { BackendHarness } from '@queuelock/conformance';
import { mysql, type MysqlOptions } from '@queuelock/mysql';
import { OwnServer } from './servers.ts';

/**
 * Returns a harness on a server of its own. Defines the hooks of the suite that calls it.
 * @param optionsFor returns how to connect to a URL. Default: by npm mysql2
 */
export function harness(optionsFor: (url: string) => MysqlOptions = (url) => ({ url })): BackendHarness {
  const own = new OwnServer();
  return {
    name: 'mysql',
    ttlMs: 800,
    // The limit covers the polling interval of a waiter far back in the queue, and the delays of a busy machine.
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
