import type { BackendHarness } from '@queuelock/conformance';
import { consul } from '@queuelock/consul';
import { sharedConsul } from '@queuelock/harness/services';
import { Keys } from '../src/queue/keys.ts';
import { Operator } from './operator.ts';

/**
 * Returns a harness for the conformance suite. Its backends have their own key prefix on the server that all
 * tests share.
 */
export function harness(prefix: string): BackendHarness {
  const endpoint = async (): Promise<string> =>
    (await sharedConsul('conformance of @queuelock/consul')).endpoint;
  const operator = async (): Promise<Operator> => new Operator(await endpoint());
  return {
    name: 'consul',
    ttlMs: 1_000,
    // A server ends a session up to twice its TTL after the last renewal, so at most 1,000 ms later than the
    // TTL. The other 1,000 ms are for a busy machine.
    expiryGranularityMs: 2_000,
    connect: async () => consul({ hosts: await endpoint(), prefix, minTtlMs: 100 }),
    traces: true,
    together: true,
    sharing: true,
    eviction: true,
    registers: true,
    resumption: true,
    queues: true,
    evict: async (key) => (await operator()).remove(key),
    entries: async (queue) => (await operator()).keysUnder(new Keys(prefix).queue(queue)),
  };
}
