import type { BackendHarness } from '@queuelock/conformance';
import { etcd, type EtcdOptions } from '@queuelock/etcd';
import { sharedEtcd } from '@queuelock/harness/services';
import { Operator } from './operator.ts';

/**
 * Creates the adapter by which the conformance suite tests a backend, with its own prefix on the shared
 * server.
 */
type HarnessOf = (name: string, options: EtcdOptions & { readonly prefix: string }) => BackendHarness;

/**
 * Where the tests find the server: `hosts` returns the endpoint for the backends under test, and `operator` the endpoint for the client that reads
 * and changes keys directly.
 */
export interface Endpoints {
  readonly hosts: () => Promise<string>;
  readonly operator: () => Promise<string>;
}

async function endpoint(): Promise<string> {
  return (await sharedEtcd('conformance of @queuelock/etcd')).endpoint;
}

/**
 * Registers Mocha hooks in the suite that calls it. Returns a function that creates the adapters by which the conformance suite tests etcd backends.
 */
export function harnessesOfEtcd(at: Endpoints = { hosts: endpoint, operator: endpoint }): HarnessOf {
  let operator: Operator;
  before(async () => {
    operator = new Operator(await at.operator());
  });
  after(() => {
    operator.close();
  });

  return (name, options) => ({
    name,
    // The shortest TTL that etcd grants with default settings.
    ttlMs: 2_000,
    // How late a session may end after its TTL: 500 ms, since the server revokes expired leases at this interval, and 500 ms for a busy machine.
    expiryGranularityMs: 1_000,
    connect: async () => etcd({ hosts: await at.hosts(), ...options }),
    traces: true,
    together: true,
    sharing: true,
    eviction: true,
    registers: true,
    resumption: true,
    queues: true,
    evict: (key) => operator.remove(key),
    entries: (queue) => operator.keysUnder(`${options.prefix}${queue}/`),
  });
}
