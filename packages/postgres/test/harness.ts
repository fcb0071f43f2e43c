import type { BackendHarness } from '@queuelock/conformance';
import { postgres, type PostgresOptions } from '@queuelock/postgres';
import { storedText } from '../src/queue/text.ts';
import { OwnServer } from './servers.ts';

/**
 * Returns a conformance harness for PostgreSQL, with a server of its own. Defines the hooks of the suite that
 * calls it.
 * @param optionsFor returns the options for a URL. Default: those for npm pg
 */
export function harness(optionsFor: (url: string) => PostgresOptions = (url) => ({ url })): BackendHarness {
  const own = new OwnServer();
  return {
    name: 'postgres',
    ttlMs: 2_000,
    // The entries of a dead session may be removed this many milliseconds after its TTL. That covers the
    // interval at which a waiter with many entries ahead reads, and the delays of a busy machine.
    expiryGranularityMs: 8_000,
    connect: async () => postgres({ ...optionsFor(own.url), connections: 2 }),
    traces: true,
    together: true,
    sharing: true,
    eviction: true,
    registers: true,
    resumption: true,
    queues: true,
    async evict(key) {
      const [, queue = '', ord] = /^(.*)\/(\d+)$/s.exec(key) ?? [];
      await own.operator.query('select queuelock.evict($1, $2)', [storedText(queue), ord]);
    },
    entries: async (queue) => {
      const keys = await own.column(
        `select queue || '/' || ord from queuelock.entry where queue = $1`,
        storedText(queue),
      );
      return keys.map(String);
    },
  };
}
