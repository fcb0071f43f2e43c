import type { BackendHarness } from '@queuelock/conformance';
import { consul } from '@queuelock/consul';
import { sharedConsul } from '@queuelock/harness/services';
import { Keys } from '../src/queue/keys.ts';
import { Operator } from './operator.ts';

/** Returns a harness whose backends have a key prefix of their own on the server that all tests share. */
export function harness(prefix: string): BackendHarness {
  const endpoint = async (): Promise<string> =>
    (await sharedConsul('conformance of @queuelock/consul')).endpoint;
  const operator = async (): Promise<Operator> => new Operator(await endpoint());
  return {
    name: 'consul',
    ttlMs: 1_000,
    // The limit is for a busy machine. A server ends a session after twice its TTL.
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
